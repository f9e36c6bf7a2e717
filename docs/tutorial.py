# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Ten minutes with Stillair
#
# Stillair runs a Wi-Fi network in virtual time: stations, an access point, a server, and the air between them.
# This page takes ten minutes. Open it as a notebook (`jupytext --to notebook tutorial.py`), or read it as it is.
#
# You need `pip install 'stillair[plot,polars,arrow]'`.

# %% [markdown]
# ## 1. One network, one run
#
# A scenario is a TOML file, its text, or a dictionary. Here an access point serves a station beside it and one far away.
# Both download; a ping measures the delay.

# %%
from stillair import Scenario

home = Scenario("""
name = "home"
duration = "8 s"
warm_up = "2 s"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[node.server]
profile = "linux-4.6"
interface.eth0 = { link = "wire", address = "10.0.0.1" }
[node.ap]
profile = "linux-4.6"
forward = true
interface.eth0 = { link = "wire", address = "10.0.0.2" }
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "fifo", address = "10.0.1.1" }
[node.near]
profile = "linux-4.4"
[node.near.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
address = "10.0.1.11"
rate = "ht20-mcs15-sgi"
[node.far]
profile = "linux-4.4"
[node.far.interface.wlan0]
channel = "wifi"
role = "station"
ap = "ap.wlan0"
address = "10.0.1.12"
rate = "ht20-mcs0-lgi"
[link.wire]
rate = "1 Gbit/s"
delay = "2 ms"
[[flow]]
kind = "tcp"
from = "server"
to = ["near", "far"]
[[flow]]
kind = "ping"
from = "server"
to = ["near", "far"]
""")

# %% [markdown]
# `run` repeats the scenario as often as asked, on all processors. Each run has the same seed and a number of its own, so
# that anyone gets the same runs again.

# %%
fifo = home.run(runs=3)
fifo

# %% [markdown]
# The far station gets the least goodput and the most airtime: that is 802.11's performance anomaly. Each frame to the far
# station holds the air for a long time, and the near station waits.
#
# ## 2. Numbers
#
# A result holds each run as a dictionary with typed keys, and means over all runs with 95 % confidence intervals.

# %%
fifo.runs[0]["stations"]["far"]["airtime_share"]

# %%
fifo.summary()["stations"]["near"]["goodput_mbps"]

# %% [markdown]
# Every number is also a row of a table. The table speaks Arrow: polars, pandas, pyarrow and DuckDB read it as it stands.

# %%
import polars

figures = polars.DataFrame(fifo.figures())
figures.filter(polars.col("group") == "stations").pivot("metric", index=["run", "subject"], values="value")

# %% [markdown]
# ## 3. Change one thing
#
# Overrides take the place of a scenario's values. Keys are dotted or nested; values are numbers, texts, lists or tables.
# The scheme `airtime` gives each station the same share of the air, and the near station gets far more than before.

# %%
fair = home.run(runs=3, overrides={"node": {"ap": {"interface": {"wlan0": {"scheme": "airtime"}}}}})
fair

# %% [markdown]
# A mistake is one clear error. It says where it is, for programs too.

# %%
from stillair import InputError

try:
    home.run(overrides={"flow.0.to": "fridge"})
except InputError as error:
    print(error)
    print(error.key)

# %% [markdown]
# ## 4. Pictures and series
#
# With `series=True` a result keeps what happened in each step of 0.2 s, and draws itself.

# %%
seen = home.run(series=True, overrides={"record.ss": "100 ms"})
seen.plot("timeseries")

# %% [markdown]
# `[record] ss` samples each TCP sender, as `ss -tim` shows it. The samples are a table too.

# %%
sockets = polars.DataFrame(seen.sockets())
sockets.group_by("flow", maintain_order=True).agg(polars.col("cwnd").max(), polars.col("srtt_ms").mean())

# %% [markdown]
# ## 5. A sweep
#
# `run_sweep` runs all combinations of some values. It uses all processors of this machine, or any executor of
# `concurrent.futures`: a pool of processes, or a Dask cluster (see sweeps.md).

# %%
from stillair import run_sweep

sweep = run_sweep(
    home,
    {
        "node.ap.interface.wlan0.scheme": ["fifo", "fq_mac", "airtime"],
        "node.far.interface.wlan0.rate": ["ht20-mcs0-lgi", "ht20-mcs4-lgi"],
    },
    runs=2,
)
sweep

# %% [markdown]
# Here as well the whole sweep is one table, with a column for each key that was swept.

# %%
table = polars.DataFrame(sweep)
scheme = "node.ap.interface.wlan0.scheme"
delay = table.filter((polars.col("subject") == "near") & (polars.col("metric") == "ping_median_ms"))
delay.group_by(scheme, maintain_order=True).agg(polars.col("value").mean().alias("ping of the near station, ms"))

# %% [markdown]
# ## 6. Keep it
#
# With a folder, each combination is kept as soon as it is finished. Run the same again, after an interrupt or with more
# values: what is kept is not run again. `parquet=True` adds the table as a Parquet data set.

# %%
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    rates = {"node.far.interface.wlan0.rate": ["ht20-mcs0-lgi", "ht20-mcs4-lgi"]}
    run_sweep(home, rates, folder=folder, parquet=True)
    print(*sorted(path.name for path in Path(folder).iterdir()))
    print(polars.read_parquet(f"{folder}/table/*.parquet").shape)

# %% [markdown]
# From here: the keys of a scenario are in scenario.md, sweeps on many machines in sweeps.md, and `stillair --help` shows
# the same from a shell.
