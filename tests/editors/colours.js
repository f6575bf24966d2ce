// The grammar of docs/editors/vscode, run by the engine of Visual Studio Code: colours.js SOURCE NODE_MODULES.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const [source, modules] = process.argv.slice(2);
const textmate = require(path.join(modules, "vscode-textmate"));
const oniguruma = require(path.join(modules, "vscode-oniguruma"));

const file = path.join(source, "docs/editors/vscode/syntaxes/nap.tmLanguage.json");
const engine = oniguruma.loadWASM(fs.readFileSync(path.join(modules, "vscode-oniguruma/release/onig.wasm")).buffer);
const registry = new textmate.Registry({
  onigLib: engine.then(() => ({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  })),
  loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), file),
});

// The parts of a text with their innermost scopes, and the lines they stand in.
function parts(grammar, text) {
  const all = [];
  let state = textmate.INITIAL;
  text.split("\n").forEach((line, number) => {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    for (const token of result.tokens) {
      all.push({ line: number, text: line.slice(token.startIndex, token.endIndex), scope: token.scopes.at(-1) });
    }
  });
  return all;
}

// What a line's words look like, in order: "axis q" -> "keyword.declaration variable.parameter.axis".
function looks(grammar, line) {
  return parts(grammar, line)
    .filter((part) => part.text.trim() && !/^[\s\W]+$/.test(part.text))
    .map((part) => `${part.text.trim()}:${part.scope.replace(/\.nap$/, "")}`)
    .join(" ");
}

const expected = {
  "diagram d": "diagram:keyword.declaration d:entity.name.section",
  "axis q = 4096": "axis:keyword.declaration q:variable.parameter.axis 4096:constant.numeric",
  "input Q: f16[q]":
    "input:keyword.declaration Q:variable.other.definition f16:storage.type q:variable.parameter.axis",
  "input M: bool[q] density 0.25":
    "input:keyword.declaration M:variable.other.definition bool:storage.type q:variable.parameter.axis " +
    "density:keyword.other 0.25:constant.numeric",
  "output O": "output:keyword.declaration O:variable.other.definition",
  "P: f16[q] = softmax[q](S[q])":
    "P:variable.other.definition f16:storage.type q:variable.parameter.axis softmax:support.function.prelude " +
    "q:variable.parameter.axis S:variable.other.readwrite q:variable.parameter.axis",
  "S[q] = sum[x](exp(1e-5 * A[q, x]))":
    "S:variable.other.definition q:variable.parameter.axis sum:support.function.reduction x:variable.parameter.axis " +
    "exp:support.function.builtin 1e-5:constant.numeric A:variable.other.readwrite q:variable.parameter.axis " +
    "x:variable.parameter.axis",
  "S[q] = max(where(x <= q and not q == 1, q, -inf), size(q))":
    "S:variable.other.definition q:variable.parameter.axis max:support.function.builtin " +
    "where:support.function.builtin x:variable.parameter.axis q:variable.parameter.axis and:keyword.operator.word " +
    "not:keyword.operator.word q:variable.parameter.axis 1:constant.numeric q:variable.parameter.axis " +
    "inf:constant.language size:support.function.builtin q:variable.parameter.axis",
  "def mine[a](s) = f16(other(s))":
    "def:keyword.declaration mine:entity.name.function a:variable.parameter.axis s:variable.parameter.axis " +
    "f16:storage.type other:entity.name.function s:variable.parameter.axis",
  "partition p on h100-sxm5 { group q 128, stream d' 64 at smem }":
    "partition:keyword.declaration p:entity.name.section on:keyword.other h100-sxm5:constant.other.target " +
    "group:keyword.control q:variable.parameter.axis 128:constant.numeric stream:keyword.control " +
    "d':variable.parameter.axis 64:constant.numeric at:keyword.other smem:constant.other.level",
};

(async () => {
  const grammar = await registry.loadGrammar("source.nap");
  for (const [line, look] of Object.entries(expected)) assert.equal(looks(grammar, line), look, line);

  const examples = path.join(source, "examples");
  const files = fs.readdirSync(examples).filter((name) => name.endsWith(".nap"));
  for (const name of files) {
    const text = fs.readFileSync(path.join(examples, name), "utf8");
    for (const part of parts(grammar, text)) {
      const where = `${name}:${part.line + 1}: \`${part.text}\``;
      const comment = part.scope === "comment.line.number-sign.nap";
      assert.equal(part.text.startsWith("#") || (comment && part.text.includes("#")), comment, where);
      assert.ok(!/[A-Za-z0-9]/.test(part.text) || part.scope !== "source.nap", `${where} has no colour`);
      assert.ok(!/[A-Za-z0-9]/.test(part.text) || part.scope !== "meta.partition.nap", `${where} has no colour`);
    }
  }
  console.log(`${files.length} examples and ${Object.keys(expected).length} lines are coloured as expected`);
})().catch((problem) => {
  console.error(problem.message);
  process.exit(1);
});
