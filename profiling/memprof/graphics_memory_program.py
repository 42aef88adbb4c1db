"""Holds memory of an NVIDIA device, by the driver's own library alone.

  graphics_memory_program.py MEBIBYTES BUSY_SECONDS [child]

Takes the memory, writes to all of it for BUSY_SECONDS, holds it as long again,
frees it. With `child` a process of its own does so. Prints how much the device's
free memory fell, by the driver's figure.
"""

import ctypes
import subprocess
import sys
import time

MEBIBYTE = 1 << 20


class Driver:
    """Calls of libcuda.so.1; any error ends the program."""

    def __init__(self):
        self._library = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        error = getattr(self._library, name)(*arguments)
        if error != 0:
            sys.exit(f"{name} ended with {error}")

    def free_bytes(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value


def hold(mebibytes, busy_seconds):
    driver = Driver()
    driver.call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    driver.call("cuDeviceGet", ctypes.byref(device), 0)
    driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    driver.call("cuCtxSetCurrent", context)
    size = ctypes.c_size_t(mebibytes * MEBIBYTE)
    block = ctypes.c_uint64()
    free_before = driver.free_bytes()
    driver.call("cuMemAlloc_v2", ctypes.byref(block), size)
    taken = (free_before - driver.free_bytes()) // MEBIBYTE
    end = time.monotonic() + busy_seconds
    while time.monotonic() < end:
        for _ in range(64):
            driver.call("cuMemsetD8_v2", block, ctypes.c_ubyte(1), size)
        driver.call("cuCtxSynchronize")
    time.sleep(busy_seconds)
    driver.call("cuMemFree_v2", block)
    driver.call("cuDevicePrimaryCtxRelease_v2", device)
    print(f"took {taken} MiB of the device")


def main():
    arguments = sys.argv[1:]
    if arguments[-1] == "child":
        command = [sys.executable, __file__, *arguments[:-1]]
        sys.exit(subprocess.run(command, check=False).returncode)
    hold(int(arguments[0]), float(arguments[1]))


if __name__ == "__main__":
    main()
