"""The page lies in the package, and is sent as what it is, once."""

from http_server import Client


def test_the_page_is_sent_once(client: Client) -> None:
    page = client.ask("/")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"<title>Doctor D</title>" in page.body
    again = client.ask("/", If_None_Match=page.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_nothing_but_the_page_is_sent_of_the_package(client: Client) -> None:
    for path in ("/index.html", "/../server.py", "/page/index.html", "/%2e%2e/server.py", "/app.js/../../server.py"):
        assert client.ask(path).status == 404, path
