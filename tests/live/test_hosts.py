"""Live hosts: names, addresses, packet contents, packets without a receiver, and the tools that generate flows."""

import json
import random
import re
import statistics

import pytest

from conftest import NO_LIMIT, PYTHON, User, needs, wait_for

SEND = """
import socket, sys
four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
four.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0xb9)
four.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 33)
four.sendto(b"four", ("server", 7000))
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 0x2a)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 9)
six.sendto(b"six", ("server", 7001))
"""

RECEIVE = """
import socket
four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
four.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
four.setsockopt(socket.IPPROTO_IP, 12, 1)  # IP_RECVTTL, which Python has no name for
four.bind(("", 7000))
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
six.bind(("", 7001))
print("ready", flush=True)
for one in (four, six):
    one.settimeout(20)
    data, more, _, _ = one.recvmsg(100, 200)
    print(data.decode(), *sorted(value[0] for _, _, value in more), flush=True)
"""


def test_names_resolve_and_all_hosts_answer(user: User) -> None:
    needs("ping")
    pings = "ping -4 -q -c 3 -i 0.2 server && ping -6 -q -c 3 -i 0.2 server && ping -q -c 2 -i 0.2 ap"
    pings += " && ip -br addr show wlan0"
    run, printed, status = user.live("--set", "flow=[]", command=["sh", "-c", f"{pings}; exit 7"])
    assert status == 7
    text = "\n".join(printed)
    assert text.count("3 received, 0% packet loss") == 2
    assert text.count("2 received, 0% packet loss") == 1
    # A round trip takes 5 ms of wire each way, plus the air.
    assert all(float(ms) >= 10 for ms in re.findall(r"min/avg/max/mdev = ([\d.]+)/", text)[:2])
    assert "10.0.1.10/32" in text
    assert "fd00::a00:10a/128" in text
    doors = run["live"]["external_io"]
    assert doors["answered"] == 2
    assert doors["entered"] >= 14
    assert doors["malformed"] == doors["refused_by_host"] == 0


@pytest.mark.parametrize("tsq", ["on", "off"])
def test_datagrams_longer_than_the_mtu_arrive_in_fragments(user: User, tsq: str) -> None:
    needs("ping")
    lengths = (1473, 2260, 3000, 30000)
    pings = "; ".join(f"ping -{ip} -q -c 2 -i 0.2 -W 3 -s {n} server" for n in lengths for ip in (4, 6))
    tsq = f"node.sta.tcp.tsq={tsq}"
    run, printed, _ = user.live("--set", "flow=[]", "--set", tsq, command=["sh", "-c", pings])
    assert "\n".join(printed).count("2 received, 0% packet loss") == 2 * len(lengths), printed
    doors = run["live"]["external_io"]
    # 2, 2, 3 and 21 fragments over IPv4 and IPv6, each way, counted at both hosts.
    assert doors["left"] >= 2 * 2 * 2 * (2 + 2 + 3 + 21)
    assert doors["too_long"] == doors["malformed"] == 0


def test_tos_and_ttl_match_the_path(user: User) -> None:
    (user.folder / "send.py").write_text(SEND)
    (user.folder / "receive.py").write_text(RECEIVE)
    process = user.start(
        "run", "upload.toml", "--set", "flow=[]", "--late", "10000000", "--", "sh", "-c", "echo begun > begun; sleep 30"
    )
    try:
        wait_for(user.folder / "begun")
        receiver = user.start("exec", "server", "--", PYTHON, "receive.py")
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "ready\n", receiver.communicate()
        assert user.run("exec", "sta", "--", PYTHON, "send.py").returncode == 0
        out, _ = receiver.communicate(timeout=30)
    finally:
        process.terminate()
        process.communicate(timeout=20)
    # The router on the path decrements the TTL; DSCP and ECN are preserved.
    assert out.splitlines() == ["four 32 185", "six 8 42"]


def test_a_web_server_is_reached_by_name(user: User) -> None:
    needs("curl")
    (user.folder / "web").mkdir(mode=0o755)
    (user.folder / "web" / "page").write_bytes(random.Random(5).randbytes(3_000_000))
    (user.folder / "web" / "page").chmod(0o644)
    options = ("--set", "flow=[]", "--set", "warm_up=0 s", *NO_LIMIT)
    process = user.start("run", "upload.toml", *options, "--", "sh", "-c", "touch begun; sleep 60")
    try:
        wait_for(user.folder / "begun")
        server = user.start("exec", "server", "--", PYTHON, "-u", "-m", "http.server", "-d", "web", "80")
        assert server.stdout is not None
        assert "Serving HTTP" in server.stdout.readline()
        fetch = "curl -sS -w '%{time_total} %{size_download}' -o got http://server/page && cmp got web/page"
        done = user.run("exec", "sta", "--", "sh", "-c", fetch)
        # The program ends with the client that started it.
        server.terminate()
        server.communicate(timeout=20)
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert done.returncode == 0, done.stderr
    seconds, size = map(float, done.stdout.split())
    # No radio in this scenario is faster than 65 Mbit/s.
    assert size == 3_000_000
    assert seconds > 3e6 * 8 / 65e6
    [run] = json.loads(out.splitlines()[-1])["runs"]
    assert run["stations"]["sta"]["airtime_tx_us"] > 3e6 * 8 / 65, err


def test_packets_without_a_receiver_are_counted(user: User) -> None:
    send = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
for to in ("255.255.255.255", "224.0.0.251", "192.0.2.1"):
    for n in range(5):
        s.sendto(b"x", (to, 9))
"""
    run, _, status = user.live("--set", "flow=[]", command=[PYTHON, "-c", send])
    assert status == 0
    assert run["live"]["external_io"]["no_route"] >= 15


def test_real_tools_generate_the_flows(user: User) -> None:
    needs("iperf3", "fping", "irtt")
    flows = "[{ kind = 'tcp', from = 'sta', to = 'server' }, "
    flows += "{ kind = 'ping', from = 'sta', to = 'server', interval = '100 ms' }, "
    flows += "{ kind = 'udp_ping', from = 'server', to = 'sta', interval = '100 ms' }, "
    flows += "{ kind = 'udp', from = 'server', to = 'sta', rate = '3 Mbit/s', payload = '1000 B' }]"
    run, _, status = user.live("--set", f"flow={flows}", "--set", "duration=6 s", "--set", "warm_up=2 s")
    assert status == 0, run["notes"]
    flow = run["flows"]
    assert set(flow) == {"tcp-0.server", "udp-3.sta"}
    assert abs(flow["udp-3.sta"]["goodput_mbps"] - 3) < 0.6
    # iperf3's payload matches the bytes delivered by the model, with headers. Wide tolerance, because a busy
    # machine stalls.
    got = run["hosts"]["server"]["to"]["bytes"] * 8 / 4e6
    assert 0.8 < flow["tcp-0.server"]["goodput_mbps"] / (got * 1448 / 1500) < 1.25
    assert flow["tcp-0.server"]["goodput_mbps"] > 5
    assert set(run["pings"]) == {"ping-1.server", "udp_ping-2.sta"}
    assert all(ping["replies"] > 10 and ping["median_ms"] > 10 for ping in run["pings"].values())
    assert run["stations"]["sta"]["mean_aggregate_up"] > 2


@pytest.mark.parametrize(("tsq", "charged"), [("on", True), ("off", False)])
def test_small_queues_include_packets_in_the_model(user: User, tsq: str, charged: bool) -> None:
    needs("iperf3")
    look = "for n in 1 2 3 4 5 6 7 8; do sleep 0.5; ss -tinm dst 10.0.0.2 | tr '\\n' ' '; echo; done"
    run, printed, status = user.live("--set", f"node.sta.tcp.tsq={tsq}", command=["sh", "-c", look])
    assert status == 0, run["notes"]
    # The data connection of each sample; the other one is for control.
    looks = [re.findall(r"skmem:\(r\d+,rb\d+,t(\d+),", line) for line in printed]
    sizes = [max(map(int, found)) for found in looks if found]
    assert len(sizes) >= 3
    # The median, because packets inside the kernel are charged too.
    assert (statistics.median(sizes) > 0) == charged
    assert run["live"]["hosts"]["sta"]["egress"] == ("nfqueue" if charged else run["live"]["hosts"]["sta"]["port"])
