"""Uses many parts of the interpreter; prints what must not change."""

import asyncio
import gc
import json
import multiprocessing
import sqlite3
import subprocess
import sys
import threading
import traceback
import tracemalloc


def square(x):
    return x * x


async def wait(n):
    await asyncio.sleep(0.001)
    return bytes(n)


async def gather():
    return [len(b) for b in await asyncio.gather(*map(wait, range(50)))]


class Node:
    gone = 0

    def __init__(self):
        self.me = self

    def __del__(self):
        Node.gone += 1


def deep(n):
    return deep(n + 1)


def use_database():
    base = sqlite3.connect(":memory:")
    base.execute("create table t (a, b)")
    rows = ((i, str(i)) for i in range(500))
    base.executemany("insert into t values (?, ?)", rows)
    print(base.execute("select sum(a), max(b) from t").fetchall())


def use_processes():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(square, range(10)))
    child = [sys.executable, "-c", "print(6 * 7)"]
    print(subprocess.run(child, capture_output=True, check=True).stdout)


def use_memory():
    for _ in range(100):
        Node()
    gc.collect()
    print(Node.gone)
    tracemalloc.start()
    kept = [bytearray(1000) for _ in range(10)]
    print(len(kept), tracemalloc.get_traced_memory()[0] > 10000)
    tracemalloc.stop()


def fail():
    for failing in [].pop, lambda: deep(0), lambda: bytearray(1 << 60):
        try:
            failing()
        except IndexError:
            traceback.print_exc()
        except (RecursionError, MemoryError) as error:
            print(type(error).__name__, error)


def use_subinterpreter():
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        return
    inner = interpreters.create()
    interpreters.run_string(inner, "kept = [bytearray(9) for _ in range(99)]")
    interpreters.destroy(inner)


def main():
    print(json.dumps(json.loads('{"a": [1, 2.5, null, "\\u20ac"]}')))
    print(asyncio.run(gather())[-3:])
    use_database()
    use_processes()
    use_memory()
    fail()
    use_subinterpreter()
    threading.Thread(target=lambda: [bytearray(5000) for _ in range(100)],
                     daemon=True).start()


if __name__ == "__main__":
    main()
