"""Secrets, each of its own, in every place where a server lets a user write one.

A secret is a word that nothing else holds, so that any piece of text can be searched for all of them.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

SECRET = re.compile(r"leak\d{4}zq")

POSTGRES = (
    "SET app.token = {}",
    'SET app.token = "{}"',
    "SET app.token TO '{}'",
    'set session "request.jwt.claim" = {}',
    "SET LOCAL a.b = 1, {}",
    "set a.b {}",
    "SET app.token = $$ {} $$",
    "SET app.token = E'a\\'{}'",
    "SET SESSION a.b='{}",
    "ALTER ROLE ann PASSWORD '{}'",
    'ALTER ROLE ann PASSWORD "{}"',
    "ALTER ROLE ann PASSWORD {}",
    "CREATE USER bob WITH ENCRYPTED PASSWORD '{}' VALID UNTIL 'infinity'",
    "ALTER ROLE ann SET app.token = {}",
    "ALTER DATABASE postgres SET app.token TO '{}'",
    "ALTER SYSTEM SET primary_conninfo = 'host=h password={}'",
    'ALTER SYSTEM SET archive_command = "cp %p {}"',
    "SELECT set_config('app.token', '{}', false)",
    "CREATE USER MAPPING FOR ann SERVER s OPTIONS (user 'u', password '{}')",
    "CREATE USER MAPPING FOR ann SERVER s OPTIONS (password {})",
    "ALTER SERVER s OPTIONS (SET host '{}')",
    "CREATE SUBSCRIPTION s CONNECTION 'host=h password={}' PUBLICATION p",
    'CREATE SUBSCRIPTION s CONNECTION "postgres://u:{}@h" PUBLICATION p',
    "SELECT dblink_connect('postgres://u:{}@h/d')",
    "SELECT * FROM dblink($q$password={}$q$, 'SELECT 1') AS t(a int)",
    "COPY pg_class FROM PROGRAM 'curl -u me:{} http://h'",
    "COPY (SELECT '{}') TO STDOUT",
    "SELECT 1 /* token={} */",
    "SELECT 1 -- {}",
    "SELECT /* a /* b */ {} */ 1",
    "/* {} */ SELECT 1",
    "SELECT '{}'",
    "SELECT E'\\x41{}'",
    "SELECT U&'\\0061{}'",
    "SELECT N'{}'",
    "SELECT 'it''s {}'",
    "SELECT 'a\\', '{}'",
    "SELECT $${}$$",
    "SELECT $tag${}$tag$",
    "SELECT B'{}'",
    "SELECT '{}",
    'SELECT 1 AS a, "{}',
    "DO $$ BEGIN PERFORM '{}'; END $$",
    "PREPARE p AS SELECT '{}'",
    "COMMENT ON TABLE pg_class IS '{}'",
    "NOTIFY channel, '{}'",
    "SECURITY LABEL ON ROLE ann IS '{}'",
    "CREATE FUNCTION f() RETURNS text SET a.b = {} AS $$ SELECT 1 $$ LANGUAGE sql",
    "IMPORT FOREIGN SCHEMA a FROM SERVER s INTO b OPTIONS (key {})",
    "CREATE TABLE t (a text DEFAULT '{}')",
    "INSERT INTO t VALUES (1, '{}')",
    "UPDATE t SET a = '{}' WHERE b = '{}'",
)
MYSQL = (
    "SET @token = {}",
    "SET @token := '{}'",
    'SET @token = "{}"',
    "SET GLOBAL wsrep_sst_auth = `u:{}`",
    "SET PASSWORD = '{}'",
    "SET PASSWORD FOR ann@'%' = PASSWORD(\"{}\")",
    "SET SESSION sql_mode = {}",
    "SET STATEMENT max_statement_time=1 FOR SELECT '{}'",
    "CREATE USER ann IDENTIFIED BY '{}'",
    'CREATE USER ann IDENTIFIED BY "{}"',
    "ALTER USER ann IDENTIFIED BY {}",
    "ALTER USER ann IDENTIFIED WITH mysql_native_password AS '*{}'",
    "GRANT ALL ON *.* TO ann IDENTIFIED BY PASSWORD '{}'",
    "CREATE USER ann IDENTIFIED VIA ed25519 USING PASSWORD('{}')",
    "CHANGE MASTER TO MASTER_PASSWORD='{}'",
    'CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = "{}"',
    "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (PASSWORD '{}')",
    "CREATE TABLE t (a int) CONNECTION='mysql://u:{}@h/d'",
    "SELECT 'it\\'s {}'",
    'SELECT "{}"',
    "SELECT _utf8mb4'{}'",
    "SELECT N'{}'",
    "SELECT 1 # {}",
    "SELECT 1 -- {}",
    "SELECT /*! 1, '{}' */ 1",
    "SELECT 'a' '{}'",
    "SELECT `{}",
    "INSERT INTO t SET a = '{}'",
    "LOAD DATA INFILE '{}' INTO TABLE t",
    "START SLAVE USER='u' PASSWORD='{}'",
    "SELECT AES_ENCRYPT('x', \"{}\")",
    "SELECT '{}",
)
ORACLE = (
    "ALTER USER ann IDENTIFIED BY {}",
    'ALTER USER ann IDENTIFIED BY "{}"',
    "ALTER USER ann IDENTIFIED BY a#{} REPLACE b${}",
    "CREATE USER ann IDENTIFIED BY VALUES 'S:{}'",
    "CREATE DATABASE LINK l CONNECT TO ann IDENTIFIED BY {} USING '{}'",
    "SET ROLE r IDENTIFIED BY {}",
    "GRANT CONNECT TO ann IDENTIFIED BY {}",
    "ALTER SESSION SET events = '{}'",
    "ADMINISTER KEY MANAGEMENT SET KEYSTORE OPEN IDENTIFIED BY {}",
    "ALTER SYSTEM SET dispatchers = {}",
    "SELECT q'[{}]' FROM dual",
    "SELECT nq'!it's {}!' FROM dual",
    "SELECT 'C:\\', '{}' FROM dual",
    "SELECT 1 /* {} */ FROM dual",
    "SELECT 1 -- {}",
    "SELECT '{}",
    "BEGIN EXECUTE IMMEDIATE 'ALTER USER ann IDENTIFIED BY {}'; END;",
    "SELECT /*+ FULL(t) {} */ * FROM t",
)
PROGRAMS = (
    "app password={}",
    "postgres://ann:{}@db/shop",
    "tool --password={}",
    "tool --password {}",
    "tool -p{}",
    "app token:{}",
    "app [{}]",
    "app ({})",
    "user@{}",
    '{{"key": "{}"}}',
    "app;{}",
    "a&b={}",
    "x'{}'",
    "app #{}",
    "key|{}",
    "$ {}",
    "a,{}",
)
COMMANDS = (
    "mysql --password={}",
    "mysql -p{}",
    "psql postgres://ann:{}@db/shop",
    "env PGPASSWORD={} psql",
    "curl -u ann:{} http://h",
    "/opt/oracle/bin/sqlplus ann/{}@db",
    "java -Dpassword={} -jar app.jar",
    "sh -c 'TOKEN={} run'",
    "pg_dump --dbname=password={}",
)
POSTGRES_SETTINGS = (
    "primary_conninfo = 'host=h password={}'",
    "ssl_passphrase_command = 'echo {}'",
    "archive_command = 'AWS_KEY={} cp %p x'",
    "restore_command = 'curl -u me:{} x'",
    "archive_cleanup_command = 'rm {}'",
    "recovery_end_command = 'x {}'",
    "app.token = '{}'",
    "pgaudit.key = 'a {}'",
    "cron.connection_token = '{}'",
    "vault.secret = '{}'",
)
MYSQL_SETTINGS = (
    "password = {}",
    "master-password = '{}'",
    "wsrep_sst_auth = sst:{}",
    "report_password = {}",
    "init_connect = \"SET @k='{}'\"",
    "wsrep_provider_options = 'socket.ssl_key={}'",
    "s3_secret_key = {}",
    "hashicorp_key_management_token = {}",
    "authentication_ldap_simple_bind_root_pwd = {}",
    "spider_remote_password = {}",
)
TRACED = (
    '7 1700000000.{at:06d} write(4, "PASSWORD {}\\n", 40) = 40 <0.000010>',
    '7 1700000000.{at:06d} read(4, "token={}", 40) = 40 <0.000010>',
    '7 1700000000.{at:06d} execve("/usr/bin/psql", ["psql", "--password={}"], 0x7ff /* 3 vars */) = 0 <0.000100>',
    '7 1700000000.{at:06d} execve("/usr/bin/psql", ["psql"], ["PGPASSWORD={}"]) = 0 <0.000100>',
    '7 1700000000.{at:06d} sendto(5, "Authorization: {}", 40, 0, NULL, 0) = 40 <0.000010>',
    '7 1700000000.{at:06d} writev(5, [{{iov_base="{}", iov_len=9}}], 1) = 9 <0.000010>',
)


class Corpus:
    """Texts with secrets in the places of templates; `made` counts them."""

    def __init__(self) -> None:
        self._numbers = count()

    @property
    def made(self) -> int:
        return int(repr(self._numbers)[len("count(") : -1])

    def fill(self, template: str, **more: object) -> str:
        """A template with a new secret in each of its places."""
        places = len(re.findall(r"(?<!\{)\{\}(?!\})", template))
        return template.format(*(f"leak{next(self._numbers):04d}zq" for _ in range(places)), **more)

    def all(self, templates: Iterable[str]) -> Iterator[str]:
        return map(self.fill, templates)

    def write(self, folder: Path) -> list[Path]:
        """Files of every kind that Doctor D reads, with secrets in them."""
        texts = {
            "postgresql.log": "".join(_stderr(self.all(POSTGRES), self.all(POSTGRES), self.all(PROGRAMS))),
            "postgresql.csv": "".join(_csv(self.all(POSTGRES), self.all(PROGRAMS))),
            "slow.log": _slow_log(self.all(MYSQL)),
            "error.log": "".join(_error_log(self.all(MYSQL))),
            "orcl_ora_7.trc": "".join(_trace_10046([*self.all(ORACLE)])),
            "parses.txt": "".join(
                f"12:47:{n:02d}  pid=123 len=5 sql={text}\n" for n, text in enumerate(self.all(ORACLE))
            ),
            "postgresql.conf": "shared_buffers = 1GB\nmax_connections = 10\n"
            + "".join(f"{line}\n" for line in self.all(POSTGRES_SETTINGS)),
            "my.cnf": "[mysqld]\ninnodb_buffer_pool_size = 1G\n"
            + "".join(f"{line}\n" for line in self.all(MYSQL_SETTINGS)),
            "postgresql.service": "[Unit]\nDescription=Server\n[Service]\nType=notify\nUser=postgres\nMemoryMax=2G\n"
            + "".join(f"Environment=PGPASSWORD={text}\nExecStartPre={text}\n" for text in self.all(COMMANDS)),
            "ps.txt": PS_HEAD + "".join(PS_LINE.format(n, text) for n, text in enumerate(self.all(COMMANDS), 2)),
            "call.strace": "".join(self.fill(line, at=n) + "\n" for n, line in enumerate(TRACED * 12)),
        }
        for name, text in texts.items():
            (folder / name).write_text(text)
        return [folder / name for name in texts]


PS_HEAD = "F S UID        PID  PPID  C PRI  NI ADDR SZ WCHAN  STIME TTY          TIME CMD\n"
PS_LINE = "4 S root     {:5d}     0  0  70 -10 - 13560 -      Nov20 ?        00:01:46 {}\n"


def _stderr(statements: Iterable[str], refused: Iterable[str], programs: Iterable[str]) -> Iterator[str]:
    head = "2026-11-21 09:34:{:02d}.392 UTC [29459] 00000 ann@shop {}:  {}\n"
    for n, text in enumerate(statements):
        yield head.format(n % 60, "LOG", f"duration: 1.935 ms  statement: {text}")
    for text in refused:
        yield head.format(50, "ERROR", f'syntax error at or near "{SECRET.findall(text)[0]}" at character 15')
        yield head.format(50, "DETAIL", f"parameters: $1 = '{SECRET.findall(text)[0]}'")
        yield head.format(50, "STATEMENT", text)
    for text in programs:
        yield head.format(55, "LOG", f"connection authorized: user=ann database=shop application_name={text}")


def _csv(statements: Iterable[str], programs: Iterable[str]) -> Iterator[str]:
    for n, (text, program) in enumerate(zip(statements, [*programs] * 9, strict=False)):
        message, name = f"duration: 1.935 ms  statement: {text}".replace('"', '""'), program.replace('"', '""')
        yield (
            f'2026-11-21 09:34:{n % 60:02d}.424 UTC,"ann","shop",29467,"[local]",6b0165bc.731b,3,"SELECT",'
            f'2026-11-21 09:34:52 UTC,3/0,0,LOG,00000,"{message}",,,,,,,,,"{name}","client backend",,0\n'
        )


def _slow_log(statements: Iterable[str]) -> str:
    head = "# Time: 2026-11-21T09:53:{:02d}.200512Z\n# User@Host: shop[shop] @ web1 [10.0.0.7]  Id:     8\n"
    times = (
        "# Query_time: 1.200512  Lock_time: 0.000004 Rows_sent: 1  Rows_examined: 250000\nSET timestamp=1795254783;\n"
    )
    return "".join(f"{head.format(n)}{times}{text};\n" for n, text in enumerate(statements))


def _error_log(statements: Iterable[str]) -> Iterator[str]:
    yield "2026-11-21T09:00:01.000000Z 0 [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections.\n"
    for n, text in enumerate(statements):
        at = f"2026-11-21T09:14:{n:02d}.000010Z 23"
        yield f"{at} [Note] [MY-012469] [InnoDB] \n*** (1) TRANSACTION:\n\nTRANSACTION 1, ACTIVE 1 sec\n"
        yield f"MySQL thread id 8, OS thread handle 1, query id 99 web1 10.0.0.7 shop updating\n{text}\n"
        yield f"{at} [Warning] [MY-010908] [Server] Unsafe statement written to the binary log. Statement: {text}\n"
        yield f"{at} [Warning] [MY-013360] [Server] Statement '{text}' is deprecated\n"


def _trace_10046(statements: list[str]) -> Iterator[str]:
    yield "Oracle Database 19c\nInstance name: orcl1\n\n*** 2024-05-30T13:27:33.100000+02:00\n"
    for n, text in enumerate(statements):
        yield f"PARSING IN CURSOR #{140 + n} len={len(text)} dep=0 uid=5 oct=3 lid=5 tim=5000000 hv=1 ad='7f' "
        yield f"sqlid='sql{n:010d}'\n"
        yield f'{text}\nEND OF STMT\nBINDS #{140 + n}:\n Bind#0\n  value="{SECRET.findall(text)[0]}"\n'
        yield f"EXEC #{140 + n}:c=0,e=42,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=14,tim=5{n:03d}000\n"
        yield f"WAIT #{140 + n}: nam='log file sync' ela= 100 p1=1 p2=2 p3=1 obj#=1 tim=5{n:03d}100\n"
