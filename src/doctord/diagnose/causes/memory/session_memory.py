"""Sessions whose memory grows until a limit ends it."""

from collections import Counter
from collections.abc import Iterator

import polars as pl

from doctord.analyse.host.session_memory import Grower, Growing, Limit, growing, limits
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, Words, phrase

# What was seen for some seconds is carried on for an hour at the most: of minutes for hours. What one statement takes
# ends with it: that is carried on for ten times what was seen, as a file system that fills.
TIMES_SEEN, TIMES_SEEN_OF_ONE = 180.0, 10.0
LONGEST_S, AT_ONCE_S = 86_400.0, 3600.0
# Young sessions fill their caches; so much of them is that, and no more (each relation that a session meets takes some
# kilobytes of it).
WARM_S = 300.0
ONE_SHARE = 0.5
MOST_TOLD = 3
WHAT_GROWS = NotMeasured(
    "what of a session's memory grows",
    "PostgreSQL shows a session's memory to that session alone; asked for another's, it writes into the log",
    "select pg_log_backend_memory_contexts(PID) (version 14, superuser): many CachedPlanSource are prepared statements,"
    " a large CacheMemoryContext is its catalog cache",
)


@cause(explains=("memory_short", "cgroup_memory_limit", "out_of_memory"))
def sessions_grow(case: Case) -> Iterator[Claim]:
    """Sessions take more and more memory of their own, and soon there is none left.

    Looks like: the private memory of client sessions (RssAnon, no shared buffers) rises at every look, as fast at the
        end as at the beginning, in one session or in all of them alike; their control group, or the host, has little
        left.
    Hurts because: at the limit the kernel ends one of the server's processes, all sessions lose their connection, and
        the server recovers; without a limit the host swaps.
    Speaks for it: how fast each grows, and since when; who they are; how long what is left lasts, page cache not
        counted, which gives way first; statements that are prepared and never freed.
    Speaks against it: sessions that have only just begun: caches fill, and come to rest; growth within one statement:
        it ends with it.
    Remedy: End the sessions that grow, one by one, or have their pool do so (a connection's life of some minutes:
        max_lifetime, maxLifetime, server_lifetime): their memory is given back at once. Then what they keep.
        PostgreSQL: prepared statements: bind the values in place of writing them into the text, or bound the driver's
        cache (prepareThreshold and preparedStatementCacheQueries of pgJDBC, prepared_max of psycopg), or DISCARD ALL
        as a session goes back to its pool (server_reset_query); pg_prepared_statements counts them, within the session
        alone. Catalog caches: fewer relations for each session, or shorter sessions. Within one statement: work_mem,
        hash_mem_multiplier, aggregates that collect rows (array_agg, string_agg).
    Verify: The private memory of a session that has run for long stands still (VmRSS less RssShmem in
        /proc/PID/status).
    Source: PostgreSQL documentation, PREPARE, "Viewing Statistics" (pg_log_backend_memory_contexts),
        pg_prepared_statements; proc(5), RssAnon; Kernel documentation, "Memory Resource Controller", "Control Group
        v2", memory.max; H. Theil, 1950, and P. K. Sen, 1968 (the trend).
    """
    met = [(grown, limit) for grown in growing(case.dataset) for limit in limits(case.dataset, grown)[:1]]
    soon = [(grown, limit) for grown, limit in met if limit.seconds <= _horizon_s(grown)]
    if soon:
        yield _claim(case, *min(soon, key=lambda one: one[1].seconds))


def _claim(case: Case, grown: Growing, nearest: Limit) -> Claim:
    for_, against = weigh(_signs(grown, nearest))
    return Claim(
        phrase("Memory of {} ends in {:duration}: {} {:bytes/s} more",
               f"control group {nearest.path}" if nearest.path else "the host", nearest.seconds, _who(grown),
               nearest.bytes_per_s),
        impact=NONE_YET,
        severity="critical" if nearest.seconds <= AT_ONCE_S else "warning",
        confidence=0.7 if against else 0.9,
        for_=[*for_, _room(nearest), *(_grower(one) for one in grown.growers[:MOST_TOLD]), *_prepared(case)],
        against=against,
        not_measured=[WHAT_GROWS],
        first_steps=_first_steps(grown, nearest),
        database=_server(grown),
    )  # fmt: skip


def _horizon_s(grown: Growing) -> float:
    return min((TIMES_SEEN_OF_ONE if grown.is_one_statement else TIMES_SEEN) * grown.over_s, LONGEST_S)


def _signs(grown: Growing, nearest: Limit) -> Iterator[Sign]:
    ages = [one.age_s for one in grown.growers if one.age_s is not None]
    each = [one.bytes_per_s for one in grown.growers]
    alike = phrase("each by {:bytes/s} to {:bytes/s}, at every look", min(each), max(each))
    yield Sign("process", "anon_bytes is not null", float(len(each)), 1.0, "{:.0f} sessions grow",
               phrase("of {}, for all of {:.0f s}; {}", grown.sessions, grown.over_s, alike))  # fmt: skip
    yield Sign("process", "anon_bytes is not null", max(ages, default=None), WARM_S, "the oldest began {:.0f s} before",
               "its caches had time to fill", "caches of a young session fill, and come to rest")  # fmt: skip
    if grown.is_one_statement:
        yield Sign("session", "state = 'active'", 0.0, 1.0, "{:.0f} of them between statements", "",
                   "one statement ran all the time: what it takes it gives back")  # fmt: skip
    if nearest.swap_bytes:
        yield Sign("memory", "swap_free_bytes is not null", nearest.swap_bytes / 2**30, float("inf"),
                   "{:.1f GiB} of swap left", "", "counted in; the host gets slow before it is used up")  # fmt: skip


def _room(nearest: Limit) -> Evidence:
    if nearest.path is None:
        return Evidence("memory", "available_bytes is not null", phrase("{:bytes} left", nearest.room_bytes), "",
                        phrase("of {:bytes}: available, and free swap", nearest.limit_bytes))  # fmt: skip
    return Evidence(
        "statistic", f"name = 'memory.limit_bytes' and entity = '{nearest.path}'",
        phrase("{:bytes} left", nearest.room_bytes), "",
        phrase("of a limit of {:bytes}, page cache of files counted as free", nearest.limit_bytes),
    )  # fmt: skip


def _grower(one: Grower) -> Evidence:
    since = "" if one.age_s is None else phrase(", {:duration} old", one.age_s)
    return Evidence("process", f"pid = {one.pid}", phrase("session {}: {:bytes/s}", _named(one), one.bytes_per_s), "",
                    phrase("from {:bytes} to {:bytes}{}", one.first_bytes, one.last_bytes, since))  # fmt: skip


def _prepared(case: Case) -> list[Evidence]:
    """How many statements SQL's own PREPARE makes, and how many DEALLOCATE frees; drivers prepare without either."""
    rows = case.dataset.frame("statement").filter(pl.col("interval_s") > 0)
    words = pl.col("text").str.extract(r"^\s*(\w+)").str.to_uppercase()
    calls = pl.col("calls_per_s") * pl.col("interval_s")
    made, freed = (
        rows.filter(words.is_in(verbs)).select(calls.sum()).item() / case.seconds if case.seconds else 0.0
        for verbs in (["PREPARE"], ["DEALLOCATE", "DISCARD"])
    )
    if made <= freed:
        return []
    return [Evidence("statement", "text like 'PREPARE%'", phrase("{:rate statements prepared}", made), "",
                     phrase("and {:rate} freed", freed))]  # fmt: skip


def _who(grown: Growing) -> Words:
    first = grown.growers[0]
    if len(grown.growers) == 1 or first.bytes_per_s > ONE_SHARE * sum(one.bytes_per_s for one in grown.growers):
        return phrase("session {} takes", _named(first))
    names = Counter(one.program or one.user for one in grown.growers if one.program or one.user)
    most = f" of {names.most_common(1)[0][0]}" if names else ""
    return phrase("{} sessions{} take", len(grown.growers), most)


def _named(one: Grower) -> str:
    names = [name for name in (one.user, one.program) if name]
    return f"{one.pid} ({', '.join(names)})" if names else str(one.pid)


def _server(grown: Growing) -> str | None:
    servers = {one.db for one in grown.growers if one.db}
    return servers.pop() if len(servers) == 1 else None


def _first_steps(grown: Growing, nearest: Limit) -> list[Phrase]:
    first = grown.growers[0]
    return [
        phrase("PostgreSQL: what grows: select pg_log_backend_memory_contexts({}); then look into the server's log.",
               first.pid),
        phrase("PostgreSQL: within {:duration}: select pg_terminate_backend({}), the largest first.", nearest.seconds,
               first.pid),
    ]  # fmt: skip
