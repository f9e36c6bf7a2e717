"""Counter lines that `tc -s` prints below a discipline or class."""

import re

_FORMS = re.compile(
    r"memory used: \S+ of \S+|capacity estimate: \S+"
    r"|(?:min/max )?(?:network layer|overhead-adjusted) size:\s+\d+\s*/\s*\d+"
    r"|average (?:network|transport) hdr offset:\s+\d+"
    r"|(?:Tin \d+\s*)+|Bulk\s+Best Effort(?:\s+Video)?\s+Voice"
)
"""linux: iproute2 tc/q_cake.c cake_print_xstats (4.19 to 6.12) - lines other than names with numbers."""
# linux: iproute2 tc/tc_util.c print_tcstats2_attr and tc/q_*.c print_xstats (4.x to 6.12), by discipline.
_NAMES = frozenset(
    """
    Sent bytes pkt pkts dropped overlimits requeues backlog rate software hardware bit pps
    thresh target interval pk_delay av_delay sp_delay way_inds way_miss way_cols drops marks ack_drop sp_flows
    bk_flows un_flows max_len last_len quantum sce
    count lastcount ldelay dropping drop_next maxpacket ecn_mark ce_mark drop_overlimit drop_overmemory memory_used
    new_flow_count new_flows_len old_flows_len deficit
    flows inactive throttled next packet next_packet delay gc highprio fastpath latency ns flows_plimit too long
    too_long alloc alloc_errors errors horizon_drops horizon_caps band_pkt_count band_drops unthrottle
    prob avg_dq_rate pkts_in overlimit overmemory maxq
    marked early pdrop other matched allot prob_mark prob_mark_head prob_drop forced_mark forced_mark_head
    forced_drop earlydrop penaltydrop bucketdrop queuedrop childdrop hh_overlimit tot_hh cur_hh
    lended borrowed giants tokens ctokens period work rtwork level
    delay_c delay_l pkts_in_c pkts_in_l ecn_marked step_marks credit memory max used limit
    """.split()  # noqa: SIM905 - a list would be a line per name
)
"""Names before or after a number: of all disciplines, cake, codel, fq, pie, red and similar, htb, dualpi2."""
_BAND = re.compile(r"band\d_(pkts|drops)")
_VALUE = re.compile(r"[+-]?\d[\w.+-]*%?|(?:un)?limited|C-queue|L-queue")


def is_known(line: str) -> bool:
    """Reports whether a line has counters of `tc -s`."""
    if _FORMS.fullmatch(line):
        return True
    words = re.sub(r"[(),:;]", " ", line).split()
    names = [word for word in words if not _VALUE.fullmatch(word)]
    return bool(names) and len(names) < len(words) and all(name in _NAMES or _BAND.fullmatch(name) for name in names)
