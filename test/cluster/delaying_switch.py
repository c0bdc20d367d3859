#!/usr/bin/env python3
"""delaying_switch.py SECONDS PORT...: a switch between the hosts of cluster.py that hands on each frame so much later,
for kernels that cannot delay by themselves (tc netem). For latency: it is too slow for long blocks at high rates."""
import array
import fcntl
import heapq
import os
import select
import socket
import struct
import sys
import time

ETHTOOL, SET_TX_CHECKSUM = 0x8946, 0x17


def open_port(name):
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    port.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    port.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
    port.bind((name, 0))
    port.setblocking(False)
    return port


def whole_frames(name):
    """A network card in this namespace computes checksums itself from now on: frames are as on a wire."""
    value = array.array("I", [SET_TX_CHECKSUM, 0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, ETHTOOL, struct.pack("16sP", name.encode(), value.buffer_info()[0]))


def main():
    if sys.argv[1] == "--whole-frames":
        return whole_frames(sys.argv[2])
    delay, names = float(sys.argv[1]), sys.argv[2:]
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))     # it is a wire: no other process delays it
    ports = [open_port(name) for name in names]
    ready, where, waiting, count = select.poll(), {}, [], 0
    by_number = {port.fileno(): port for port in ports}
    for port in ports:
        ready.register(port, select.POLLIN)
    while True:
        left = waiting[0][0] - time.monotonic() if waiting else 1
        for number, _ in ready.poll(max(0, left * 1000 - 0.05) if left > 0.0002 else 0):
            try:
                while True:
                    frame, address = by_number[number].recvfrom(65536)
                    if address[2] == socket.PACKET_OUTGOING:
                        continue
                    where[frame[6:12]] = by_number[number]
                    count += 1
                    heapq.heappush(waiting, (time.monotonic() + delay, count, by_number[number], frame))
            except BlockingIOError:
                pass
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, source, frame = heapq.heappop(waiting)
            to = where.get(frame[:6])
            for port in [to] if to else [port for port in ports if port is not source]:
                try:
                    port.send(frame)
                except OSError:      # a host that goes, or a full queue: as on a wire, it is lost
                    pass


if __name__ == "__main__":
    main()
