#!/usr/bin/env bash
# The tests where they were not written: under other clocks, on a busy machine, without tracefs and bpftrace.
#
#   tests/anywhere.sh CASE... [-- COMMAND...]
#   tests/anywhere.sh plus-40-days busy -- .venv/bin/pytest tests/lake
#
# All that is named is so at once; without a command it is `make check test`. The cases:
#   plus-1-day, plus-40-days   the clock, so many days on, of everything that the tests start too (libfaketime)
#   summer-time                a zone in which the clocks go forward two minutes after the start
#   new-year                   the year ends two minutes after the start
#   busy                       a loop on each CPU
#   no-bpftrace                neither bpftrace nor tracefs, for these tests alone; needs root
# What is downloaded and built is so at true time, before: `make test-anywhere` sees to it.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds_until() { echo $(($(date --utc --date="$1" +%s) - $(date +%s) - 120)); }

# The clocks of Europe/Berlin go forward on the last Sunday of March, at 01:00 UTC.
next_summer_time() {
    local year
    for year in "$(date +%Y)" "$(($(date +%Y) + 1))"; do
        local day=31
        while [ "$(date --date="$year-03-$day" +%u)" != 7 ]; do day=$((day - 1)); done
        if [ "$(date --utc --date="$year-03-$day 01:00" +%s)" -gt "$(($(date +%s) + 120))" ]; then
            echo "$year-03-$day 01:00"
            return
        fi
    done
}

shift_clock() {
    local library
    library=$(find /usr/lib /usr/local/lib -name libfaketimeMT.so.1 2>/dev/null | head -1)
    if [ -z "$library" ]; then
        echo "libfaketime is not installed: apt-get install faketime" >&2
        exit 2
    fi
    cc -shared -fPIC -O1 -o "$temporary/true_waits.so" tests/support/true_waits.c -ldl
    # Rust's compiler waits for ever under libfaketime (its allocator wants the time before libfaketime is there): as
    # cargo starts it, and as the programs do that build crates.
    printf '#!/bin/sh\nunset LD_PRELOAD\nexec "$@"\n' >"$temporary/wrapper"
    printf '#!/bin/sh\nunset LD_PRELOAD\nexec rustc "$@"\n' >"$temporary/rustc"
    printf '#!/bin/sh\nunset LD_PRELOAD\nexec rustdoc "$@"\n' >"$temporary/rustdoc"
    chmod 755 "$temporary/wrapper" "$temporary/rustc" "$temporary/rustdoc"
    export RUSTC_WRAPPER="$temporary/wrapper" RUSTC="$temporary/rustc" RUSTDOC="$temporary/rustdoc"
    # fio holds its clock against the kernel's, and ends a job that seems to have hung for days.
    if command -v fio >/dev/null; then
        mkdir "$temporary/bin"
        printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@"\n' "$(command -v fio)" >"$temporary/bin/fio"
        chmod 755 "$temporary/bin" "$temporary/bin/fio"
        PATH="$temporary/bin:$PATH"
    fi
    # Servers' data that are kept for the next run have the date of this one in them.
    mkdir "$temporary/cache" && export XDG_CACHE_HOME="$temporary/cache"
    clock=(env LD_PRELOAD="$temporary/true_waits.so:$library" FAKETIME="+$1s" FAKETIME_DONT_FAKE_MONOTONIC=1)
}

keep_busy() {
    for _ in $(seq "$(nproc)"); do
        while :; do :; done &
        loops+=($!)
    done
}

without_bpftrace=(unshare --mount sh -c '
    umount --lazy /sys/kernel/debug/tracing /sys/kernel/debug /sys/kernel/tracing 2>/dev/null
    found=$(command -v bpftrace) && mount --bind /dev/null "$(readlink -f "$found")"
    exec "$@"' sh)

clock=() place=() loops=()
temporary=$(mktemp --directory) && chmod 755 "$temporary" # servers of other users load what is in it
trap 'rm -r "$temporary"; [ ${#loops[@]} -eq 0 ] || kill "${loops[@]}"' EXIT
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    plus-[1-9]*-day | plus-[1-9]*-days) shift_clock "$((${1//[^0-9]/} * 86400))" ;;
    summer-time) export TZ=Europe/Berlin && shift_clock "$(seconds_until "$(next_summer_time)")" ;;
    new-year) shift_clock "$(seconds_until "$(($(date +%Y) + 1))-01-01 00:00")" ;;
    busy) keep_busy ;;
    no-bpftrace) place=("${without_bpftrace[@]}") ;;
    *) echo "no such case: $1" >&2 && exit 2 ;;
    esac
    shift
done
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- make check test
"${place[@]}" "${clock[@]}" "$@"
