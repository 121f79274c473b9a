// Judges robots.txt files, base64 in JSON lines, as Lighthouse's audit does; see answer.js.
const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
const { createRequire } = require("module");
const { pathToFileURL } = require("url");
const path = require("path");
const root = path.dirname(require.resolve("lighthouse/package.json"));
import(pathToFileURL(path.join(root, "core/audits/seo/robots-txt.js"))).then(({ default: audit }) => {
  console.log("lighthouse " + require("lighthouse/package.json").version);
  for (const line of lines) {
    const content = Buffer.from(JSON.parse(line), "base64").toString("utf8");
    const found = audit.audit({ RobotsTxt: { status: 200, content } });
    console.log(JSON.stringify((found.details?.items ?? []).map((e) => ({ line: Number(e.index), message: e.message }))));
  }
});
