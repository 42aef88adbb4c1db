#!/bin/sh
# Runs a trial as a job of Kubernetes, and ends when the job has ended:
#
#   serve --engine='/opt/footprint/kubernetes.sh {trial} {limit} {seconds} {bundle} {order} {result}' ...
#
# The job is that of kubernetes_job.yaml beside this script. Paths must not contain
# any of | & \ ". A signal, and any failure, also removes the job.
set -eu
[ $# -eq 6 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
job=footprint-$1
folder=$(dirname "$0")

remove() {
  kubectl delete job "$job" --ignore-not-found --wait=false >&2 || true
}
trap remove EXIT
trap 'exit 143' INT TERM

sed -e "s|{trial}|$1|g" -e "s|{limit}|$2|g" -e "s|{seconds}|$3|g" \
  -e "s|{bundle}|$4|g" -e "s|{order}|$5|g" -e "s|{result}|$6|g" "$folder/kubernetes_job.yaml" |
  kubectl create -f - >&2
while true; do
  status=$(kubectl get job "$job" -o 'jsonpath={.status.succeeded}:{.status.failed}')
  case $status in
    [1-9]*:*) exit 0 ;;
    *:[1-9]*)
      kubectl logs "job/$job" --tail=20 >&2 || true
      exit 1
      ;;
  esac
  sleep 1
done
