"""A Scrapy duplicate filter on the Redis keys and scripts of octopus.

In settings.py of a project:

    DUPEFILTER_CLASS = "octopus_scrapy.DupeFilter"

and, where the defaults do not fit:

    REDIS_URL = "redis://127.0.0.1:6379/0"   # also that of scrapy-redis
    OCTOPUS_SEEN = {
        "name": "spider:dupefilter",  # default: the spider's name, ":dupefilter"
        "kind": "window",             # exact (default), bloom, window, expiring
        "capacity": 100_000_000,      # of bloom and window: entries of a window
        "error_rate": 1e-4,           # over all windows together
        "granularity": "day",         # hour, day, month
        "windows": 7,
        "zone": "UTC",                # of the calendar of days and months
        "expiry": 604800,             # of expiring: seconds
    }

Processes that share a set, written in Go or in Python, need the same settings;
others are refused. docs/formats/redis.md has the keys.
"""

import calendar
import datetime
import hashlib
import logging
import math
import re
import zoneinfo
from pathlib import Path

import redis
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.request import RequestFingerprinter, referer_str

_UTC = datetime.timezone.utc
_BLOCK = 1 << 32  # bits of a Redis string
_LAYOUT = {"hour": "%Y%m%d%H", "day": "%Y%m%d", "month": "%Y%m"}


def _script(name):
    return Path(__file__).with_name(name + ".lua").read_text(encoding="utf-8")


def size(capacity, error_rate, windows):
    """Bits of a block, hashes and blocks of the least filter that errs with at
    most error_rate when all windows are full; as package redisseen."""
    if not 1e-12 <= error_rate <= 0.5:
        raise ValueError(f"error_rate {error_rate}: must be from 1e-12 to 0.5")
    if capacity < 1:
        raise ValueError(f"capacity {capacity}: a filter needs the entries of one window")
    target = -math.expm1(math.log1p(-error_rate) / windows)
    hashes = min(max(1, math.floor(-math.log2(target) + 0.5)), 64)
    bits = math.ceil(1.01 * (-hashes * capacity / math.log1p(-(target ** (1 / hashes)))))
    least = -(-bits // _BLOCK)
    if least > 256:
        raise ValueError(f"capacity {capacity} needs {least} blocks of 512 MB, 256 are possible")
    blocks = _cut(bits, least)
    return -(-bits // blocks), hashes, blocks


def _cut(bits, least):
    """The number of blocks that Redis' allocator rounds up least."""
    best, blocks = math.inf, least
    for n in range(least, min(least + 16, 257)):
        size = (-(-bits // n) + 7) // 8
        if n > least and size < 1 << 16:
            break
        step = 1 << max((size + 15).bit_length() - 3, 0)
        over = n * (-(-(size + 16) // step) * step) / (bits / 8)
        if over < best:
            best, blocks = over, n
        if best <= 1.03:
            break
    return blocks


class Seen:
    """The set: add(fingerprint) tells whether it was new."""

    def __init__(self, server, name, kind="exact", capacity=0, error_rate=1e-4,
                 granularity="day", windows=7, zone="UTC", expiry=0):
        if kind not in ("exact", "bloom", "window", "expiring"):
            raise ValueError(f"kind {kind!r}: must be exact, bloom, window or expiring")
        if granularity not in _LAYOUT:
            raise ValueError(f"granularity {granularity!r}: must be hour, day or month")
        self.server, self.name, self.kind = server, name, kind
        self.granularity = granularity
        self.windows = windows if kind == "window" else 1
        self.zone = _UTC if zone == "UTC" else zoneinfo.ZoneInfo(zone)
        self.expiry = int(expiry * 1000)
        plan = {"kind": kind}
        if kind == "expiring":
            if self.expiry < 1:
                raise ValueError("an expiring set needs its expiry, in seconds")
            plan["expiry"] = _go_duration(self.expiry)
        if kind == "window":
            plan.update(granularity=granularity, windows=str(windows), zone=zone)
        if kind in ("bloom", "window"):
            self.bits, self.hashes, self.blocks = size(capacity, error_rate, self.windows)
            plan.update(bits=str(self.bits), hashes=str(self.hashes), blocks=str(self.blocks))
        self._attach(plan)
        script = {"exact": "exact", "expiring": "expiring"}.get(kind, "filter")
        self.script = server.register_script(_script(script))  # survives SCRIPT FLUSH
        self.names, self.end, self.expire = [""], 0, 0
        if kind == "window":
            seconds, micros = server.time()
            self._advance(seconds * 1000 + micros // 1000)

    def _attach(self, plan):
        key = self.name + ":plan"
        if not self.server.hexists(key, "kind"):
            if self.kind == "exact" and re.fullmatch(rb"[0-9a-f]{40}", self.server.srandmember(self.name) or b""):
                raise ValueError(f"key {self.name} holds fingerprints of Scrapy-Redis, as text: "
                                 "import it into a set of another name")
            for field, value in plan.items():
                self.server.hsetnx(key, field, value)
        have = {k.decode(): v.decode() for k, v in self.server.hgetall(key).items()}
        for field, value in plan.items():
            if have.get(field) != value:
                raise ValueError(
                    f"set {self.name} was made with {field} {have.get(field)}, asked for is {value}: "
                    f"take the same, or another name (key {key})")

    def add(self, fingerprint):
        if self.kind == "exact":
            return self.script(keys=[self.name], args=["add", fingerprint]) == b"1"
        if self.kind == "expiring":
            return self.script(keys=[self.name], args=["add", "", self.expiry, fingerprint]) == b"1"
        digest = hashlib.md5(fingerprint).digest()
        base = self.name
        if self.blocks > 1:
            base += ":%d" % ((int.from_bytes(digest[12:], "big") >> 8) % self.blocks)
        while True:
            reply = self.script(keys=[base + n for n in self.names],
                                args=["add", "", self.end, self.expire, self.bits, self.hashes, digest])
            if not isinstance(reply, int):
                return reply == b"1"
            self._advance(reply)  # the window is over, says the server's clock

    def _advance(self, now):
        """Moves to the windows of a time; a clock that goes back moves nothing."""
        end = self._start(now, 1)
        if _millis(end) <= self.end:
            return
        self.end, self.expire = _millis(end), _millis(self._start(now, self.windows))
        layout = _LAYOUT[self.granularity]
        self.names = [":" + self._start(now, -i).strftime(layout) for i in range(self.windows)]

    def _start(self, now, n):
        """The beginning of the window n units away from the one of now."""
        t = datetime.datetime.fromtimestamp(now // 1000, _UTC)
        if self.granularity == "hour":
            return t.replace(minute=0, second=0) + datetime.timedelta(hours=n)
        t = t.astimezone(self.zone)
        if self.granularity == "day":
            day = t.date() + datetime.timedelta(days=n)
        else:
            months = t.year * 12 + t.month - 1 + n
            day = datetime.date(months // 12, months % 12 + 1, 1)
        return datetime.datetime(day.year, day.month, day.day, tzinfo=self.zone)


def _millis(t):
    return calendar.timegm(t.astimezone(_UTC).timetuple()) * 1000


def _go_duration(ms):
    """Go's text of a duration: 168h0m0s."""
    seconds, rest = divmod(ms, 1000)
    minutes, s = divmod(seconds, 60)
    hours, m = divmod(minutes, 60)
    if seconds == 0:
        return f"{rest}ms"
    tail = f"{s}{f'.{rest:03d}'.rstrip('0') if rest else ''}s"
    if hours:
        return f"{hours}h{m}m{tail}"
    return f"{m}m{tail}" if minutes else tail


class DupeFilter(BaseDupeFilter):
    """Scrapy's duplicate filter on a set in Redis."""

    def __init__(self, seen, fingerprinter=None, debug=False):
        self.seen, self.debug = seen, debug
        self.fingerprinter = fingerprinter or RequestFingerprinter()
        self.logger, self.logdupes = logging.getLogger(__name__), True

    @classmethod
    def from_crawler(cls, crawler):
        options = dict(crawler.settings.getdict("OCTOPUS_SEEN"))
        options.setdefault("name", crawler.spider.name + ":dupefilter")
        server = redis.Redis.from_url(crawler.settings.get("REDIS_URL") or "redis://127.0.0.1:6379/0")
        return cls(Seen(server, **options), crawler.request_fingerprinter,
                   crawler.settings.getbool("DUPEFILTER_DEBUG"))

    def request_fingerprint(self, request):
        return self.fingerprinter.fingerprint(request)

    def request_seen(self, request):
        return not self.seen.add(self.request_fingerprint(request))

    def close(self, reason):
        self.seen.server.close()

    def log(self, request, spider):
        if self.debug or self.logdupes:
            self.logger.debug("Filtered duplicate request: %(request)s (referer: %(referer)s)",
                              {"request": request, "referer": referer_str(request)}, extra={"spider": spider})
            self.logdupes = False
        spider.crawler.stats.inc_value("dupefilter/filtered", spider=spider)
