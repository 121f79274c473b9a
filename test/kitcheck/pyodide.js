// Runs answer.py, its first argument, in CPython as pyodide has it; see answer.js.
const questions = require("fs").readFileSync(0, "utf8");
const run = `
import io, sys
sys.argv, sys.stdin, sys.stdout = ["answer", "robotparser"], io.StringIO(questions), io.StringIO()
exec(program)
sys.stdout.getvalue().strip()`;
require("pyodide").loadPyodide().then((py) => {
  py.globals.set("program", process.argv[1]);
  py.globals.set("questions", questions);
  console.log(py.runPython(run));
});
