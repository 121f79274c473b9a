// Answers questions about robots.txt files with robots-parser; see answer.py.
const parse = require("robots-parser");
const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
console.log("robots-parser " + require("robots-parser/package.json").version);
const files = new Map();
let out = "";
for (const line of lines) {
  const q = JSON.parse(line);
  try {
    if (!files.has(q.robots)) {
      files.set(q.robots, parse("http://h/robots.txt", Buffer.from(q.robots, "base64").toString("utf8")));
    }
    const may = files.get(q.robots).isAllowed("http://h" + q.path, q.agent);
    out += may === undefined ? "-" : may ? "1" : "0";
  } catch {
    out += "-";
  }
}
console.log(out);
