#!/usr/bin/env bash
# Makes, in the folder where it runs, the files that debian_commands.txt and
# hostile_situations.txt name. What needs a program that is absent is left out.
set -euo pipefail
sources=$1
have() { command -v "$1" >/dev/null; }

seq 1 50000 >numbers.txt
awk 'BEGIN { for (i = 0; i < 20000; ++i) print i "," (i * 7919) % 1000 ",word" i % 97 }' >table.csv
printf 'pear\napple\nfig\n' >words.txt
printf '[%s{"a": 1, "b": [true, null]}]\n' "$(for i in {1..2000}; do printf '{"a": %d, "b": "x%d"}, ' "$i" "$i"; done)" >data.json
printf '<?xml version="1.0"?><list>%s</list>\n' "$(for i in {1..2000}; do printf '<item id="%d">text</item>' "$i"; done)" >data.xml
cat >style.xsl <<'X'
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="text"/><xsl:template match="/"><xsl:value-of select="count(//item)"/></xsl:template>
</xsl:stylesheet>
X
printf '<html><head><title>Page</title></head><body><h1>Words</h1><p id="p"></p><script>document.getElementById("p").textContent = [3, 1, 2].sort().join();</script></body></html>\n' >page.html
printf 'P2\n64 64\n255\n%s\n' "$(seq 0 4095 | awk '{ printf "%d ", $1 % 256 }')" >picture.pgm
printf 'digraph g { a -> b -> c; a -> c; }\n' >graph.dot
printf '%%!PS\n/Times-Roman findfont 20 scalefont setfont 72 700 moveto (words) show showpage\n' >page.ps
printf '.TH WORDS 1\n.SH NAME\nwords\n' >words.1
mkdir -p many && (cd many && for i in {1..300}; do echo "$i" >"file$i"; done)

cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  long sum = 0;
  for (int i = 1; i < 1000; ++i) {
    char* block = malloc(i);
    memset(block, 1, i);
    sum += block[i - 1];
    free(block);
  }
  printf("%ld\n", sum);
  return 0;
}
C
cat >program.cc <<'C'
#include <iostream>
#include <map>
#include <regex>
#include <string>
int main() {
  std::map<std::string, int> counts;
  for (int i = 0; i < 1000; ++i) ++counts[std::to_string(i % 37)];
  std::cout << counts.size() << std::regex_match("abc", std::regex("a.c")) << "\n";
}
C
cat >program.go <<'G'
package main

import "fmt"

func main() {
	total := make(chan int)
	for i := 0; i < 10; i++ {
		go func(n int) { total <- len(make([]byte, n*100000)) }(i)
	}
	sum := 0
	for i := 0; i < 10; i++ {
		sum += <-total
	}
	fmt.Println(sum)
}
G
cat >Program.java <<'J'
import java.util.*;
import java.util.stream.*;
public class Program {
  public static void main(String[] words) throws Exception {
    List<byte[]> blocks = new ArrayList<>();
    for (int i = 0; i < 200; ++i) blocks.add(new byte[100000]);
    System.out.println(blocks.size() + IntStream.range(0, 100000).parallel().sum());
    System.exit(6);
  }
}
J
cat >program.rs <<'R'
fn main() { let v: Vec<u64> = (0..100000).collect(); println!("{}", v.iter().sum::<u64>()); }
R
cat >program.ml <<'O'
let () = Printf.printf "%d\n" (List.length (List.init 100000 (fun i -> string_of_int i)))
O
cat >application.py <<'P'
def application(environment, start):
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"answer\n" * 1000]
P
cat >fetch.py <<'P'
"""Prints what a server on a socket of the file system answers to `GET /`, once it does."""
import socket, sys, time
for _ in range(200):
    try:
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        break
    except OSError:
        time.sleep(0.1)
client.sendall(b"GET / HTTP/1.0\r\nHost: here\r\n\r\n")
answer = b""
while True:
    part = client.recv(65536)
    if not part:
        break
    answer += part
print(answer.split(b"\r\n")[0].decode(), len(answer.split(b"\r\n\r\n", 1)[1]))
P
cat >nginx.conf <<'N'
daemon off; pid nginx.pid; worker_processes 2; error_log stderr crit; user root;
events { worker_connections 64; }
http { access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3;
  uwsgi_temp_path t4; scgi_temp_path t5;
  server { listen unix:nginx.socket; location / { root .; index words.txt; } } }
N
cat >Makefile <<'M'
objects := $(addsuffix .out,1 2 3 4 5 6 7 8)
all: $(objects)
	@cat $(objects)
%.out:
	@seq $* > $@
M
mkdir -p cmake_project
cp program.c cmake_project
printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(program program.c)\n' >cmake_project/CMakeLists.txt

if have git; then
  git init -q repository
  (
    cd repository
    git config user.name a
    git config user.email a@example.com
    for i in {1..30}; do
      seq "$i" 500 >file.txt
      git add .
      GIT_AUTHOR_DATE="@$((1700000000 + i)) +0000" GIT_COMMITTER_DATE="@$((1700000000 + i)) +0000" git commit -qm "change $i"
    done
  )
fi
if have gcc; then
  gcc -O1 -g -o program program.c
  gcc -O1 -fno-builtin -w -pthread -o hostile "$sources/hostile_program.c"
fi
