#!/bin/sh
# Runs a trial as a job of Nomad, and ends when the job has ended:
#
#   serve --engine='/opt/footprint/nomad.sh {trial} {limit} {seconds} {bundle} {order} {result}' ...
#
# The job is that of nomad_job.json beside this script. Paths must not contain
# any of | & \ ". A signal, and any failure, also removes the job.
set -eu
[ $# -eq 6 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
job=footprint-$1
folder=$(dirname "$0")

remove() {
  nomad job stop -purge -detach "$job" >&2 || true
}
trap remove EXIT
trap 'exit 143' INT TERM

sed -e "s|{trial}|$1|g" -e "s|{limit}|$2|g" -e "s|{seconds}|$3|g" \
  -e "s|{bundle}|$4|g" -e "s|{order}|$5|g" -e "s|{result}|$6|g" "$folder/nomad_job.json" |
  nomad job run -json -detach - >&2
while true; do
  status=$(nomad job inspect -t '{{.Status}}' "$job")
  case $status in
    dead) exit 0 ;;
  esac
  sleep 1
done
