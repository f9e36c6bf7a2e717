#!/usr/bin/env python3
"""Pages between live hosts: `stillair-page serve ADDRESS PORT` and `stillair-page load ADDRESS PORT PAGE ...`.

A load is that of the model: the server's name is looked up, by a datagram that it answers, a list is fetched over HTTP,
then the objects in it over four connections, each asked for when the one before it on its connection is there.
Requests and the heads of answers have the lengths of PAGE, JSON of `request`, `header`, `list` and `objects`; no
request is shorter than its words. Each load that is done is a line of JSON: when it began and how long it took, in s.
"""

import argparse
import json
import os
import queue
import signal
import socket
import sys
import threading
import time

WORKERS = 4
QUERY, ANSWER = 33, 49
"""Payload of a question for a host's address, and of the answer, which repeats it and adds the address."""
PATIENCE = 10.0
"""Seconds that a server may take to begin."""
LOOKUP = 5.0
"""Seconds that a resolver waits (resolv.conf(5))."""
PIECE = bytes(1 << 16)
TCLASS = 67


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def mark(sock, tos):
    if tos:
        six = sock.family == socket.AF_INET6
        sock.setsockopt(*((socket.IPPROTO_IPV6, TCLASS) if six else (socket.IPPROTO_IP, socket.IP_TOS)), tos)


def padded(begin, end, length):
    """Lines of a head, filled up to a length by one that means nothing."""
    name = b"X: "
    room = length - len(begin) - len(end) - len(name) - 2
    fill = name + b"x" * room + b"\r\n" if room >= 0 else b""
    return begin + fill + end


def head(sock, rest):
    """The next head, and what is behind it of what has come; none at the end."""
    while b"\r\n\r\n" not in rest:
        some = sock.recv(1 << 16)
        if not some:
            return None, b""
        rest += some
    first, _, behind = rest.partition(b"\r\n\r\n")
    return first, behind


def serve(address, port):
    """Answers each request for /BYTES/HEADER by so many bytes behind a head of so many, and each datagram."""
    with socket.socket(family(address), socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(512)
        threading.Thread(target=names, args=(address, port), daemon=True).start()
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answers, args=(connection,), daemon=True).start()


def names(address, port):
    with socket.socket(family(address), socket.SOCK_DGRAM) as sock:
        sock.bind((address, port))
        while True:
            asked, where = sock.recvfrom(2048)
            sock.sendto(asked.ljust(ANSWER, b"\0"), where)


def answers(connection):
    rest = b""
    with connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while True:
                asked, rest = head(connection, rest)
                if asked is None:
                    return
                _, size, header, *tos = asked.split(b" ")[1].split(b"/")
                mark(connection, int(tos[0]) if tos else 0)
                left = int(size)
                begin = f"HTTP/1.1 200 OK\r\nContent-Length: {left}\r\n".encode()
                connection.sendall(padded(begin, b"\r\n", int(header)))
                while left > 0:
                    left -= connection.send(PIECE[:left])
        except (OSError, ValueError):
            # Who asks for something else, or has gone, gets nothing more.
            return


class Client:
    """One page, loaded over and over."""

    def __init__(self, said):
        self.address, self.port, self.tos = said.address, said.port, said.tos
        self.page = json.loads(said.page)

    def connect(self):
        sock = socket.socket(family(self.address), socket.SOCK_STREAM)
        mark(sock, self.tos)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.connect((self.address, self.port))
        return sock

    def wait(self):
        """Until the server is there."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return self.connect().close()
            except ConnectionRefusedError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def fetch(self, sock, size):
        """Asks for so many bytes and reads them."""
        begin = f"GET /{size}/{self.page['header']}/{self.tos} HTTP/1.1\r\nHost: page\r\n".encode()
        sock.sendall(padded(begin, b"\r\n", self.page["request"]))
        answer, rest = head(sock, b"")
        if answer is None or b" 200 " not in answer:
            raise OSError("the server has closed the connection")
        left = size - len(rest)
        place = bytearray(1 << 16)
        while left > 0:
            n = sock.recv_into(place, min(left, len(place)))
            if n == 0:
                raise OSError("the server has closed the connection")
            left -= n

    def look_up(self):
        with socket.socket(family(self.address), socket.SOCK_DGRAM) as sock:
            mark(sock, self.tos)
            sock.connect((self.address, self.port))
            sock.settimeout(LOOKUP)
            while True:
                sock.send(bytes(QUERY))
                try:
                    sock.recv(2048)
                    return
                except TimeoutError:
                    continue

    def load(self):
        """Once."""
        self.look_up()
        objects = queue.SimpleQueue()
        for size in self.page["objects"]:
            objects.put(size)
        wrong = []
        first = self.connect()
        self.fetch(first, self.page["list"])

        def work(sock):
            try:
                with sock or self.connect() as connection:
                    while True:
                        self.fetch(connection, objects.get_nowait())
            except queue.Empty:
                pass
            except OSError as error:
                wrong.append(error)

        count = min(WORKERS, len(self.page["objects"]))
        workers = [threading.Thread(target=work, args=(None if n else first,), daemon=True) for n in range(count)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if wrong:
            raise wrong[0]


def load(said):
    """Loads until its time is over, or it is told to end; a load that is under way then is told of as such."""
    client, zero, began, count = Client(said), time.monotonic(), None, 0
    stop = threading.Event()

    def told():
        for which in (signal.SIGINT, signal.SIGTERM):
            signal.signal(which, lambda *_: stop.set())
        if said.seconds:
            threading.Timer(said.seconds, stop.set).start()

    told()

    def loads():
        nonlocal began, count
        while True:
            began = time.monotonic() - zero
            client.load()
            took = time.monotonic() - zero - began
            print(json.dumps({"at": round(began, 6), "took": round(took, 6)}), flush=True)
            rest, began = began + said.interval - (time.monotonic() - zero), None
            count += 1
            if rest > 0:
                time.sleep(rest)

    failed = []

    def guarded():
        try:
            client.wait()
            loads()
        except OSError as error:
            failed.append(error)
            stop.set()

    threading.Thread(target=guarded, daemon=True).start()
    while not stop.wait(0.1):
        pass
    since = began
    if failed:
        print(f"stillair-page: {failed[0]}", flush=True)
        status = 1
    else:
        under_way = None if since is None else round(time.monotonic() - zero - since, 6)
        print(json.dumps({"under_way": under_way}), flush=True)
        status = 0
    # Threads that wait for a server do not hold it up.
    os._exit(status)


def main():
    """Which of both it is."""
    parser = argparse.ArgumentParser(prog="stillair-page")
    kinds = parser.add_subparsers(dest="kind", required=True)
    server, client = kinds.add_parser("serve"), kinds.add_parser("load")
    for one in (server, client):
        one.add_argument("address")
        one.add_argument("port", type=int)
    client.add_argument("page")
    client.add_argument("--interval", type=float, default=0.2)
    client.add_argument("--seconds", type=float, default=0.0, help="0 is until it is told to end")
    client.add_argument("--tos", type=int, default=0)
    said = parser.parse_args()
    if said.kind == "serve":
        serve(said.address, said.port)
    else:
        load(said)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"stillair-page: {error}")
