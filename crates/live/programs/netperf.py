#!/usr/bin/env python3
"""`netperf` and `netserver` of live hosts where no netperf is installed: as much as Flent asks for.

Tests are TCP_STREAM, TCP_MAERTS and UDP_RR. Between the two ends is a protocol of our own, so that each needs the other
of these: a line of JSON asks for a test, a line answers with the port of its data, and another, at the end, with what
the server measured. Results are `KEY=VALUE` lines, and while a test goes on, with `-D`, four lines for each interval,
as netperf's demo mode prints them with `-k`.
"""

import getopt
import json
import os
import socket
import struct
import sys
import time

PORT = 12865
UNIT = 1 << 14
"""Bytes that are written at once unless -m or -M says so."""
READ = 1 << 17
PATIENCE = 10.0
"""Seconds to wait for the other end."""
IPV6_TCLASS = 67
CODES = {"ef": 46, "va": 44, "le": 1}
KEYS = {
    "THROUGHPUT", "THROUGHPUT_UNITS", "ELAPSED_TIME", "PROTOCOL", "DIRECTION", "TRANSPORT_MSS",
    "LOCAL_CONG_CONTROL", "REMOTE_CONG_CONTROL", "LOCAL_TRANSPORT_RETRANS", "REMOTE_TRANSPORT_RETRANS",
    "LOCAL_SOCKET_TOS", "REMOTE_SOCKET_TOS",
    "LOCAL_SEND_SIZE", "LOCAL_RECV_SIZE", "REMOTE_SEND_SIZE", "REMOTE_RECV_SIZE",
    "LOCAL_BYTES_SENT", "LOCAL_BYTES_RECVD", "REMOTE_BYTES_SENT", "REMOTE_BYTES_RECVD",
}  # fmt: skip
INFO = (
    "rto ato snd_mss rcv_mss unacked sacked lost retrans fackets last_data_sent last_ack_sent last_data_recv "
    "last_ack_recv pmtu rcv_ssthresh rtt rttvar snd_ssthresh snd_cwnd advmss reordering rcv_rtt rcv_space total_retrans"
).split()
"""The numbers of 32 bits behind the first eight bytes of `struct tcp_info` (include/uapi/linux/tcp.h, 4.4)."""


class Wrong(Exception):
    """What cannot be done, in a line."""


def tos(text):
    """The byte that a marking means: CS0 to CS7, AF11 to AF43, EF, or a number."""
    text = text.strip().lower()
    if text in CODES:
        return CODES[text] << 2
    if len(text) == 3 and text[:2] == "cs" and text[2] in "01234567":
        return int(text[2]) << 5
    if len(text) == 4 and text[:2] == "af" and text[2] in "1234" and text[3] in "123":
        return (int(text[2]) * 8 + int(text[3]) * 2) << 2
    try:
        return int(text, 0) & 0xFF
    except ValueError:
        raise Wrong(f'-Y: found "{text}", expected a DSCP by name or a number') from None


def mark(sock, byte):
    """Has packets of a socket carry a TOS byte."""
    if not byte:
        return
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_TCLASS, byte)
    # That of a socket of IPv6 counts where its packets are of IPv4.
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, byte)


def control(sock, name):
    """Sets the congestion control of a TCP socket, if one is asked for."""
    if name:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            raise Wrong(f"-K: found {name}: {error.strerror}") from None


def info(sock):
    """What the kernel tells of a TCP connection."""
    data = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8 + 4 * len(INFO))
    count = (len(data) - 8) // 4
    return dict(zip(INFO, struct.unpack(f"{count}I", data[8 : 8 + 4 * count]), strict=False))


def of_socket(sock):
    """What a report says of one end."""
    name = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b"\0")[0].decode()
    told = info(sock)
    return {"control": name, "mss": told["snd_mss"], "again": told["total_retrans"]}


class Meter:
    """Counts what is sent or comes, and shows it by intervals."""

    def __init__(self, interval, unit, per_second):
        self.interval, self.unit, self.per_second = interval, unit, per_second
        self.begin = self.since = time.monotonic()
        self.total = self.part = self.shown = 0

    def count(self, amount):
        self.total += amount
        self.part += amount
        now = time.monotonic()
        if self.interval and now - self.since >= self.interval:
            self.show(now)

    def show(self, now):
        took, n = now - self.since, self.shown
        value = self.part * self.per_second / took
        lines = (
            f"NETPERF_INTERIM_RESULT[{n}]={value:.2f}",
            f"NETPERF_UNITS[{n}]={self.unit}",
            f"NETPERF_INTERVAL[{n}]={took:.3f}",
            f"NETPERF_ENDING[{n}]={time.time():.3f}",
        )
        print("\n".join(lines), flush=True)
        self.since, self.part, self.shown = now, 0, n + 1

    def finish(self):
        """Seconds that it took."""
        return max(time.monotonic() - self.begin, 1e-6)


def send(sock, length, size, meter):
    """Writes for a time in s, or so many bytes if that is negative, and then no more."""
    data = os.urandom(size)
    end = time.monotonic() + length if length > 0 else None
    left = -length if length < 0 else None
    while left is None or left > 0:
        if end is not None:
            rest = end - time.monotonic()
            if rest <= 0:
                break
            sock.settimeout(rest)
        try:
            sent = sock.send(data if left is None else data[:left])
        except TimeoutError:
            break
        meter.count(sent)
        left = None if left is None else left - sent
    sock.settimeout(None)
    sock.shutdown(socket.SHUT_WR)


def receive(sock, meter, most=None):
    """Reads to the end; gives up when nothing has come for `most` s."""
    place = bytearray(READ)
    sock.settimeout(most)
    try:
        while n := sock.recv_into(place):
            meter.count(n)
    except TimeoutError:
        raise Wrong("the other end has been silent for too long") from None
    finally:
        sock.settimeout(None)


def line(stream):
    """The next line of the control connection, as JSON."""
    text = stream.readline()
    if not text:
        raise Wrong("the other end has closed the control connection")
    return json.loads(text)


def say(stream, what):
    stream.write(json.dumps(what).encode() + b"\n")
    stream.flush()


def serve_one(connection):
    """A test, on the server's side."""
    stream = connection.makefile("rwb")
    try:
        asked = line(stream)
        say(stream, run_there(stream, asked, connection.getsockname()[0], connection.family))
    except (Wrong, OSError, ValueError, KeyError) as error:
        try:
            say(stream, {"error": str(error)})
        except OSError:
            pass


def run_there(stream, asked, own, family):
    quiet = Meter(0, "", 0)
    if asked["test"] == "UDP_RR":
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.bind((own, 0))
            mark(sock, asked["tos"])
            say(stream, {"port": sock.getsockname()[1]})
            sock.settimeout(abs(asked["length"]) + PATIENCE)
            while True:
                data, place = sock.recvfrom(READ)
                if data == b"end":
                    return {"bytes": quiet.total}
                sock.sendto(data, place)
                quiet.count(len(data))
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.bind((own, 0))
        control(listener, asked["control"])
        mark(listener, asked["tos"])
        listener.listen(1)
        say(stream, {"port": listener.getsockname()[1]})
        listener.settimeout(PATIENCE)
        data, _ = listener.accept()
    with data:
        data.settimeout(None)
        mark(data, asked["tos"])
        if asked["test"] == "TCP_STREAM":
            receive(data, quiet, abs(asked["length"]) + 60)
        else:
            send(data, asked["length"], asked["size"], quiet)
            # Until the client has all of it.
            receive(data, Meter(0, "", 0), 60)
        return {"bytes": quiet.total, **of_socket(data)}


def netserver(words):
    """Serves tests, each in a process of its own."""
    options, rest = getopt.getopt(words, "46DdfNhL:p:Vv:Z:")
    said = dict(options)
    if rest or "-h" in said:
        print("usage: netserver [-D] [-4|-6] [-L HOST] [-p PORT]", file=sys.stderr)
        return 1
    if "-V" in said:
        print("netserver: that of Stillair's live hosts")
        return 0
    host = said.get("-L", "").split(",")[0]
    four = "-4" in said or (bool(host) and ":" not in host)
    listener = socket.socket(socket.AF_INET if four else socket.AF_INET6, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if not four:
        # By both versions, unless one is asked for.
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int("-6" in said))
    listener.bind((host, int(said.get("-p", PORT))))
    listener.listen(128)
    if "-D" not in said:
        if os.fork():
            return 0
        os.setsid()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            # Twice, so that nobody has to wait for it.
            if os.fork() == 0:
                serve_one(connection)
            os._exit(0)
        connection.close()
        os.wait()


def dial(family, kind, host, port, own, marked, name=""):
    """A connection to the other end."""
    found = socket.getaddrinfo(host, port, family, kind)
    *_, place = found[0]
    sock = socket.socket(found[0][0], kind)
    if own:
        sock.bind((own, 0))
    mark(sock, marked)
    if kind == socket.SOCK_STREAM:
        control(sock, name)
        sock.settimeout(PATIENCE)
    sock.connect(place)
    sock.settimeout(None)
    return sock


def netperf(words):
    """Runs a test against a netserver."""
    if "--" in words:
        behind = words.index("--")
        words, of_test = words[:behind], words[behind + 1 :]
    else:
        of_test = []
    options, rest = getopt.getopt(words, "46D:F:H:L:P:T:VY:f:hI:i:jl:no:O:a:A:t:p:v:cCdN")
    more, also = getopt.getopt(of_test, "e:H:K:k:L:m:M:o:O:p:P:r:R:s:S:T:t:l:d:46bnND")
    if rest or also:
        raise Wrong(f"found {' '.join(rest + also)}, expected options alone")
    said, test_said = dict(options), dict(more)
    if "-V" in said:
        print("netperf: that of Stillair's live hosts")
        return 0
    test = said.get("-t", "TCP_STREAM").upper()
    if test not in ("TCP_STREAM", "TCP_MAERTS", "UDP_RR"):
        raise Wrong(f"-t: found {test}, expected TCP_STREAM, TCP_MAERTS or UDP_RR")
    keys = [key for key in test_said.get("-k", "THROUGHPUT").upper().split(",") if key]
    if unknown := [key for key in keys if key not in KEYS]:
        raise Wrong(f"-k: found {unknown[0]}, expected some of {', '.join(sorted(KEYS))}")
    form = said.get("-f", "m")
    if form != "m":
        raise Wrong(f"-f: found {form}, expected m, for 10^6 bit/s")
    family = socket.AF_INET6 if "-6" in said else socket.AF_INET
    host = said.get("-H", "localhost").split(",")[0]
    marks = (said.get("-Y", "0").split(",") * 2)[:2]
    here, there = map(tos, marks)
    length = int(said.get("-l", 10))
    interval = abs(float(said.get("-D", 0).split(",")[0])) if "-D" in said else 0
    size = int(test_said.get("-m", UNIT).split(",")[0]) if "-m" in test_said else UNIT
    name = test_said.get("-K", "")
    own = said.get("-L", "").split(",")[0]
    asked = {"test": test, "length": length, "tos": there, "size": size, "control": name}
    with dial(family, socket.SOCK_STREAM, host, int(said.get("-p", PORT)), own, 0) as connection:
        stream = connection.makefile("rwb")
        say(stream, asked)
        answer = line(stream)
        if "error" in answer:
            raise Wrong(answer["error"])
        to = test_said.get("-H", host).split(",")[0]
        kind = socket.SOCK_DGRAM if test == "UDP_RR" else socket.SOCK_STREAM
        with dial(family, kind, to, answer["port"], test_said.get("-L", own).split(",")[0], here, name) as data:
            if test == "UDP_RR":
                meter = Meter(interval, "Trans/s", 1)
                ping(data, length, float(test_said.get("-e", 0)), meter)
                took, local = meter.finish(), {}
            else:
                meter = Meter(interval, "10^6bits/s", 8e-6)
                if test == "TCP_STREAM":
                    send(data, length, size, meter)
                    took = meter.finish()
                    # Until the server has all of it.
                    receive(data, Meter(0, "", 0), 60)
                else:
                    receive(data, meter, abs(length) + 60)
                    took = meter.finish()
                local = of_socket(data)
                if "DUMP_TCP_INFO" in os.environ:
                    print(" ".join(f"tcpi_{key} {value}" for key, value in info(data).items()), file=sys.stderr)
        remote = line(stream)
        if "error" in remote:
            raise Wrong(remote["error"])
    report(keys, test, meter, took, local, remote, [here, there], size)
    return 0


def ping(sock, length, wait, meter):
    """Requests of a byte, each sent when the answer to the one before has come, or has not in `wait` s."""
    end, left = (time.monotonic() + length, None) if length > 0 else (None, -length)
    number = 0
    while left is None or left > 0:
        rest = PATIENCE if end is None else end - time.monotonic()
        if rest <= 0:
            break
        number = (number + 1) % 256
        sock.send(bytes([number]))
        try:
            sock.settimeout(min(rest, wait) if wait else rest)
            # An answer to an earlier request, that was given up, is none to this one.
            while sock.recv(READ) != bytes([number]):
                pass
        except (TimeoutError, ConnectionRefusedError):
            continue
        meter.count(1)
        left = None if left is None else left - 1
    for _ in range(3):
        sock.send(b"end")


def report(keys, test, meter, took, local, remote, marks, size):
    """The keys that were asked for, at the end."""
    rate = meter.total * meter.per_second / took
    sends, there = test != "TCP_MAERTS", remote.get("bytes", 0)
    all_ = {
        "THROUGHPUT": f"{rate:.2f}",
        "THROUGHPUT_UNITS": meter.unit,
        "ELAPSED_TIME": f"{took:.2f}",
        "PROTOCOL": "UDP" if test == "UDP_RR" else "TCP",
        "DIRECTION": {"TCP_STREAM": "Send", "TCP_MAERTS": "Receive"}.get(test, "Send|Receive"),
        "TRANSPORT_MSS": local.get("mss", -1),
        "LOCAL_CONG_CONTROL": local.get("control", ""),
        "REMOTE_CONG_CONTROL": remote.get("control", ""),
        "LOCAL_TRANSPORT_RETRANS": local.get("again", -1),
        "REMOTE_TRANSPORT_RETRANS": remote.get("again", -1),
        "LOCAL_SOCKET_TOS": f"0x{marks[0]:02x}",
        "REMOTE_SOCKET_TOS": f"0x{marks[1]:02x}",
        "LOCAL_SEND_SIZE": size if sends else -1,
        "LOCAL_RECV_SIZE": -1 if sends else READ,
        "REMOTE_SEND_SIZE": -1 if sends else size,
        "REMOTE_RECV_SIZE": READ if sends else -1,
        "LOCAL_BYTES_SENT": meter.total if sends else 0,
        "LOCAL_BYTES_RECVD": 0 if sends else meter.total,
        "REMOTE_BYTES_SENT": 0 if sends else there,
        "REMOTE_BYTES_RECVD": there if sends else 0,
    }
    for key in keys:
        print(f"{key}={all_[key]}")


def main():
    name = os.path.basename(sys.argv[0])
    try:
        return (netserver if name == "netserver" else netperf)(sys.argv[1:])
    except getopt.GetoptError as error:
        # As getopt of C words it: Flent asks which options there are by it.
        print(f"{name}: invalid option -- '{error.opt}'", file=sys.stderr)
        return 1
    except (Wrong, OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
