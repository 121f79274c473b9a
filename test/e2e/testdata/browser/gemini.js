// Usage: node gemini.js URL
// Prints the status, the type and the body of an answer, as @derhuerst/gemini reads it.
import { sendGeminiRequest } from "@derhuerst/gemini/client.js";

sendGeminiRequest(process.argv[2], { tlsOpt: { rejectUnauthorized: false } }, (error, answer) => {
  if (error) throw error;
  process.stdout.write(`${answer.statusCode} ${answer.meta}\n`);
  answer.pipe(process.stdout);
});
