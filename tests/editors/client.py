#!/usr/bin/env python3
"""A scripted editor that talks to the real `napkin lsp` through its pipes: client.py PROGRAM SOURCE."""

import json
import pathlib
import queue
import subprocess
import sys
import threading
import time
import unittest

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
PATIENCE = 60  # seconds; only a server that hangs takes as long
TEXT = (SOURCE / "examples/attention.nap").read_text()
URI = "file:///tmp/attention.nap"


def framed(message):
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class Editor:
    def __init__(self, *options):
        pipe = subprocess.PIPE
        self.server = subprocess.Popen([PROGRAM, "lsp", *options], stdin=pipe, stdout=pipe, stderr=pipe)
        self.messages = queue.Queue()
        self.asked = 0
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        """Nothing but the protocol may stand on the server's standard output."""
        out = self.server.stdout
        while header := out.readline():
            name, length = header.split(b": ")
            assert name == b"Content-Length" and out.readline() == b"\r\n", header
            self.messages.put(json.loads(out.read(int(length))))

    def send(self, data):
        self.server.stdin.write(data)
        self.server.stdin.flush()

    def tell(self, method, **params):
        self.send(framed({"jsonrpc": "2.0", "method": method, "params": params}))

    def next(self):
        return self.messages.get(timeout=PATIENCE)

    def ask(self, method, **params):
        self.asked += 1
        self.send(framed({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}))
        answer = self.next()
        assert answer["id"] == self.asked, answer
        return answer.get("result", answer.get("error"))

    def start(self, capabilities=None, **options):
        result = self.ask("initialize", processId=None, capabilities=capabilities or {}, initializationOptions=options)
        self.tell("initialized")
        return result

    def open(self, text):
        document = {"uri": URI, "languageId": "nap", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)
        return self.diagnostics()

    def diagnostics(self):
        message = self.next()
        assert message["method"] == "textDocument/publishDiagnostics", message
        return message["params"]["diagnostics"]

    def change(self, text, begin, end=None):
        change = {"text": text, "range": {"start": position(begin), "end": position(end or begin)}}
        self.tell("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[change])
        return self.diagnostics()

    def about(self, method, place, **params):
        return self.ask("textDocument/" + method, textDocument={"uri": URI}, position=position(place), **params)

    def end(self):
        """The exit code, and what was said on standard error."""
        self.server.stdin.close()
        code = self.server.wait(timeout=PATIENCE)
        self.reader.join(timeout=PATIENCE)
        said = self.server.stderr.read().decode()
        self.server.stdout.close()
        self.server.stderr.close()
        return code, said


def position(place):
    return {"line": place[0], "character": place[1]}


class Conversation(unittest.TestCase):
    def editor(self, *options):
        editor = Editor(*options)
        self.addCleanup(lambda: editor.server.poll() is None and editor.server.kill())
        return editor

    def test_a_whole_session(self):
        editor = self.editor()
        self.assertEqual(editor.start()["serverInfo"]["name"], "napkin")
        self.assertEqual(editor.open(TEXT), [])
        lines = TEXT.split("\n")
        row = next(i for i, line in enumerate(lines) if line.startswith("P: f16"))
        column = lines[row].index("softmax")
        told = editor.change("", (row, column), (row, column + 1))
        self.assertEqual([(each["code"], each["range"]["start"]) for each in told], [("E0206", position((row, column)))])
        self.assertIn("help: did you mean `softmax`?", told[0]["message"])
        self.assertEqual(editor.change("s", (row, column)), [])
        self.assertIn("shape 4096 x 4096; type `f16`; wires `q`, `x`; 32 MiB",
                      editor.about("hover", (row, 0))["contents"]["value"])
        self.assertEqual(editor.about("definition", (row + 1, lines[row + 1].index("P[")))["range"]["start"],
                         position((row, 0)))
        edits = editor.about("rename", (row, 0), newName="Weights")["changes"][URI]
        self.assertEqual([each["newText"] for each in edits], ["Weights"] * 2)
        self.assertIn("built into the language", editor.about("rename", (row, 0), newName="exp")["message"])
        self.assertEqual(editor.ask("textDocument/formatting", textDocument={"uri": URI}, options={}), [])
        self.assertIsNone(editor.ask("shutdown"))
        editor.tell("exit")
        self.assertEqual(editor.end(), (0, ""))

    def test_quick_fixes_snippets_and_signatures(self):
        editor = self.editor()
        editor.start({"textDocument": {"completion": {"completionItem": {"snippetSupport": True}}}})
        wrong = TEXT.replace("P: f16[q, x] = softmax", "P[q, x] = sofmax")
        told = editor.open(wrong)
        self.assertEqual([each["code"] for each in told], ["E0206"])
        document = {"uri": URI}
        (action,) = editor.ask("textDocument/codeAction", textDocument=document, range=told[0]["range"],
                               context={"diagnostics": told})
        self.assertEqual(action["title"], "write `softmax`")
        (edit,) = action["edit"]["changes"][URI]
        place = edit["range"]
        begin, end = ((place[at]["line"], place[at]["character"]) for at in ("start", "end"))
        # Mended, what is left is a hint: P has the wrong format for the matrix units.
        (hint,) = editor.change(edit["newText"], begin, end)
        self.assertEqual((hint["severity"], hint["message"].split("\n")[-1]), (4, "help: write P: f16"))
        (action,) = editor.ask("textDocument/codeAction", textDocument=document, range=hint["range"], context={})
        place = action["edit"]["changes"][URI][0]["range"]["start"]
        self.assertEqual(editor.change(": f16", (place["line"], place["character"])), [])
        items = editor.about("completion", (begin[0], end[1] + len(": f16")))
        softmax = next(item for item in items if item["label"] == "exp")
        self.assertNotIn("insertText", softmax)  # brackets follow already
        row = next(i for i, line in enumerate(TEXT.split("\n")) if "sum[d](" in line)
        column = TEXT.split("\n")[row].index("sum[d](") + len("sum[d](")
        help_at = editor.about("signatureHelp", (row, column))
        self.assertEqual((help_at["signatures"][0]["label"], help_at["activeParameter"]), ("sum[axis](e)", 1))
        self.assertEqual(editor.end(), (1, ""))

    def test_times_stand_beside_statements_once_there_is_a_plan(self):
        editor = self.editor()
        editor.start({"workspace": {"inlayHint": {"refreshSupport": True}}}, target="h100-sxm5", costs=True)
        editor.open(TEXT)
        document, everything = {"uri": URI}, {"start": position((0, 0)), "end": position((99, 0))}
        self.assertEqual(editor.ask("textDocument/inlayHint", textDocument=document, range=everything), [])
        told = editor.next()
        self.assertEqual(told["method"], "workspace/inlayHint/refresh")
        editor.send(framed({"jsonrpc": "2.0", "id": told["id"], "result": None}))
        hints = editor.ask("textDocument/inlayHint", textDocument=document, range=everything)
        self.assertEqual(len(hints), 3)
        self.assertRegex(hints[-1]["label"], r"^kernel 1: [\d.]+ us of [\d.]+ us, bound by \w+")
        editor.ask("shutdown")
        editor.tell("exit")
        self.assertEqual(editor.end(), (0, ""))

    def test_hover_finds_a_plan(self):
        for editor, options in ((self.editor("--target", "h100-sxm5"), {}), (self.editor(), {"target": "h100-sxm5"})):
            editor.start(**options)
            editor.open(TEXT)
            row = TEXT.split("\n").index("input K: f16[x, d]")
            limit = time.monotonic() + PATIENCE
            while "is being searched" in (told := editor.about("hover", (row, 6))["contents"]["value"]):
                self.assertLess(time.monotonic(), limit)
            self.assertIn("on `h100-sxm5`, in the kernel of `n`, `l`, `O2`", told)
            self.assertRegex(told, r"\| smem \| `K_smem` \| \d+ x \d+ \| \d+ KiB \|")
            editor.ask("shutdown")
            editor.tell("exit")
            self.assertEqual(editor.end(), (0, ""))

    def test_a_search_does_not_keep_the_server_from_ending(self):
        editor = self.editor("--target", "h100-sxm5")
        editor.start()
        text = (SOURCE / "examples/transformer_block.nap").read_text()
        self.assertEqual(editor.open(text), [])
        row = next(i for i, line in enumerate(text.split("\n")) if line.startswith("input "))
        self.assertIn("is being searched", editor.about("hover", (row, 6))["contents"]["value"])
        self.assertEqual(editor.change("#\n", (0, 0)), [])
        editor.ask("shutdown")
        editor.tell("exit")
        self.assertEqual(editor.end(), (0, ""))

    def test_ends_that_are_none(self):
        editor = self.editor()
        editor.tell("exit")
        self.assertEqual(editor.end(), (1, ""))
        editor = self.editor()
        editor.start()
        self.assertEqual(editor.end(), (1, ""))

    def test_messages_in_pieces_and_together(self):
        editor = self.editor()
        begin = framed({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
        for byte in begin:
            editor.send(bytes([byte]))
        self.assertEqual(editor.next()["id"], 1)
        asks = [{"jsonrpc": "2.0", "id": name, "method": "textDocument/nothing"} for name in "abc"]
        editor.send(b"".join(framed(each) for each in asks))
        self.assertEqual([editor.next()["id"] for _ in asks], ["a", "b", "c"])
        editor.end()

    def test_rubbish_is_answered_and_survived(self):
        editor = self.editor()
        editor.start()
        for rubbish, code in ((b"hello\r\n\r\n", -32700), (b"Content-Length: 5\r\n\r\n{oops", -32700),
                              (b"Content-Length: 2\r\n\r\n[]", -32600), (framed({"id": 7}), -32600)):
            editor.send(rubbish)
            self.assertEqual(editor.next()["error"]["code"], code, rubbish)
        self.assertEqual(editor.open("\0\U0001F600 axis"), editor.open("\0\U0001F600 axis"))
        self.assertEqual(editor.ask("textDocument/nothing")["code"], -32601)
        editor.send(b"Content-Length: 123456789012\r\n\r\n")
        self.assertEqual(editor.next()["error"]["code"], -32700)
        self.assertEqual(editor.end(), (1, ""))

    def test_a_wrong_target_on_the_command_line(self):
        editor = self.editor("--target", "h1000")
        code, said = editor.end()
        self.assertEqual(code, 2)
        self.assertIn("error[E0418]", said)
        editor = self.editor()
        editor.send(framed({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                            "params": {"capabilities": {}, "initializationOptions": {"target": "h1000"}}}))
        self.assertEqual([editor.next().get("id"), editor.next()["method"]], [1, "window/showMessage"])
        self.assertEqual(editor.end(), (1, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
