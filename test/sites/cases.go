package sites

import (
	"slices"
	"strings"
)

// Case is a site that shows one sentence of the policy. Each Want is a robot, then
// selectors that it may (+) or must not (-) fetch. A word with an equals sign is a
// preference about the selector before it.
type Case struct {
	Name string
	Site
	Want []string
}

type notes = map[string]string

const deniedBob = "Disallow: /\nAllow: /phlog/\n"

// Cases has a site for each sentence of the policy.
var Cases = slices.Concat(policy, meetings, words, trees)

var policy = []Case{
	{"the longest pattern decides, Allow on a tie", Of(notes{"/": "Disallow: /a\nAllow: /ab\nDisallow: /x\nAllow: /x\n"}), []string{"* -/a -/aq +/ab +/abq +/x +/b"}},
	{"a rule is about its directory", Of(notes{"/d/": "Disallow: /a\nDisallow: /*.zip$\n"}), []string{"* -/d/a +/a -/d/q.zip +/q.zip +/d/q.zip/x +/d"}},
	{"a pattern without a slash", Of(notes{"/d/": "Disallow: a\nDisallow: *.zip\n"}), []string{"* -/d/a -/d/q.zip +/q.zip"}},
	{"an escape is the byte it decodes to", Of(notes{"/": "Disallow: /%41b\nDisallow: /x%2a\nDisallow: /y%2Fz\nDisallow: /a$b\nDisallow: /%c3%A9\n"}), []string{"* -/Ab +/%41b -/x* +/xq -/y/z +/y%2Fz -/a$b +/a -/é"}},
	{"a name that holds the escapes of another's bytes", Of(notes{"/é/": "Allow: /é/\nFinal: /\n", "/é/%C3%A9/日本/": "Final: /\n"}), []string{"* +/é/é/x -/é/%C3%A9/x -/é/%C3%A9/日本/x"}},
	{"a name in another character set", Of(notes{"/": "Disallow: /\n", "/d/": "Allow: /%abc/index.html\n"}), []string{"* -/d/\xabc/ +/d/\xabc/index.html"}},
	{"an Allow of an index below a wildcard", Of(notes{"/": "Allow: /*/a/index.html\nDisallow: /d\n"}), []string{"* -/d/a/ +/d/a/index.html"}},
	{"an Allow of an index in a directory of that name", Of(notes{"/2019/index.html/": "Disallow: /*%C3%A9\nAllow: /index.html*/index.html\n"}), []string{"* -/2019/index.html/index.htmlé/ +/2019/index.html/index.htmlé/index.html"}},
	{"an Allow with a star that matches as much as a ban", Of(notes{"/": "Disallow: /*\nDisallow: /*pub$\n", "/pub/": "Allow: /*b\n", "/pub/x.zip/": "Disallow: /*b/b\n", "/pub/x.zip/pub/": "Disallow: /\n"}), []string{"* -/pub/x.zip/pub/pub +/pub/b"}},
	{"an = behind a ? below an Allow", Of(notes{"/": "Disallow: /\n", "/$/": "User-agent: GPTBot\nDisallow: /*a=b$\n", "/$/é/": "Allow: /\nDisallow: /*?\n"}), []string{"gptbot -/$/é/?a=b"}},
	{"a star may end inside of an escape", Of(notes{"/": "Disallow: /*9$\n"}), []string{"* -/é -/9 +/è"}},
	{"a star may end inside of an escape of what is no UTF-8", Of(notes{"/": "User-agent: foo\nDisallow: /%A2019/\nUser-agent: bar\nDisallow: /*2019$\nUser-agent: foobot\nAllow: /*BD019$\nDisallow: /\n"}), []string{"bar -/\xa2019 -/2019 +/019", "foobot -/\xa2019 +/BD019"}},
	{"a ; that a star with a slash may follow", Of(notes{"/": "User-agent: *\nFinal: /*a=b$\n", "/a?/": "Disallow: /\nAllow: /*a;b\nAllow: /\n"}), []string{"* -/a?/x/qa;bx/qa=b +/a?/x"}},
	{"an Allow of what is no UTF-8, in a name with a percent sign", Of(notes{"/": "User-agent: GPTBot\nDisallow: /*/%25\n", "/ab/": "Disallow: /\nAllow: /%ab/\n"}), []string{"gptbot -/ab/\xab/zq/%/zq"}},
	{"a star may end inside of an escape of weak lines", Of(notes{"/": "Disallow: /%/*a%23/\n", "/a#/*/a#/": "Disallow: /*/*9$\n"}), []string{"* -/a#/*/a#/é/é +/a#/*/a#/é/è"}},
	{"an escape for a name, below one in another script", Of(notes{"/": "User-agent: foo\nFinal: /*/%25C3%25A9/*日本\n", "/日本/": "Disallow: /0\n", "/日本/0/": "Allow: /%C3%A9/\n"}), []string{"* -/日本/0/%C3%A9/日本 +/日本/0/é/"}},
	{"an Allow of what another denies as it is written", Of(notes{"/": "Allow: /*/%24*$\nUser-agent: foo\nFinal: /*/%2524\n", "/b /": "Disallow: /A/\n"}), []string{"foo -/c/%24", "* +/c/$ +/c/%24"}},
	{"an & behind a ? that a star stands for", Of(notes{"/": "Disallow: /a?\nUser-agent: foo\nFinal: /*/a?/*a&b\n"}), []string{"foo -/a?/a?/a&b +/a?/b", "* -/a?/b"}},
	{"a ? below a name with a $, and an Allow", Of(notes{"/a$/": "Allow: /\nDisallow: /a?b/x\n"}), []string{"* -/a$/a?b/x/q -/a$/a?b/xy +/a$/a?b/y +/a$/q"}},
	{"a ? before a #, which Python drops", Of(notes{"/": "Disallow: /\nAllow: /%23a\nDisallow: /?%23a/\n"}), []string{"* -/?#a/ -/?#a/b +/#a"}},
	{"an = behind a ?", Of(notes{"/": "User-agent: foo\nDisallow: /*/a/*x=b\n", "/q=/": "User-agent: bar\nDisallow: /?x=b/0\n"}), []string{"foo -/a/a/?x=b -/q=/?x=b/0/a/x=b"}},
	{"an Allow of a name that ends with a $", Of(notes{"/": "Disallow: /a\nDisallow: /a/b\nDisallow: /a/c\nAllow: /*b$$\nAllow: /*c%24*\n"}), []string{"* -/a/b +/a/b$ -/a/b$/ -/a/c +/a/c$/b"}},
	{"an Allow below of a name with an escape", Of(notes{"/": "Disallow: /*/2019/\nDisallow: /*9/2019/\n", "/~bob/": "Allow: /café/2019/x\n"}), []string{"* +/~bob/café/2019/x -/~bob/café/2019/y -/a9/2019/ +/2019/ +/~bob/café/"}},
	{"a tilde, escaped and not", Of(notes{"/": "Disallow: /%7Ebob/a\nDisallow: /~bob/b\n", "/~bob/": "Allow: /ab\n", "/%7Ebob/": "Disallow: /c\n"}), []string{"* -/~bob/a -/~bob/b +/~bob/ab +/~bob/c -/%7Ebob/c +/%7Ebob/a +/%7Ebob/b"}},
	{"a robot's own rules, directory by directory", Of(notes{"/": "Disallow: /a\nUser-agent: GPTBot\nDisallow: /b\n", "/d/": "Disallow: /x\n", "/e/": "Disallow: /x\nUser-agent: gptbot\nDisallow:\n"}),
		[]string{"* -/a +/b -/d/x -/e/x", "gptbot +/a -/b -/d/x +/e/x"}},
	{"a preference is no rule", Of(notes{"/": "Disallow: /a\nUser-agent: foo\nContent-Usage: search=n\n"}), []string{"foo -/a search=n", "* -/a"}},
	{"a list, a version, a blank, and nobody", Of(notes{"/": "User-agent: foo/1.1, bar\nUser-agent: ChatGPT Agent\nDisallow: /a\nUser-agent: *x*\nDisallow: /b\nUser-agent: * all\nDisallow: /c\n"}),
		[]string{"foo -/a +/b +/c", "bar -/a", "chatgpt -/a +/c", "x +/a +/b -/c"}},
	{"a ban by name holds below", Of(notes{"/": "User-agent: GPTBot\nDisallow: /~bob/\n", "/~bob/": deniedBob}), []string{"gptbot -/~bob/phlog/x", "* +/~bob/phlog/x -/~bob/x"}},
	{"a ban by name holds against a wildcard", Of(notes{"/": "User-agent: GPTBot\nDisallow: /~bob/drafts/\n", "/~bob/": "Allow: /*/*.txt$\n"}), []string{"gptbot -/~bob/drafts/x.txt +/~bob/x.txt", "* +/~bob/drafts/x.txt"}},
	{"what an annotation says of the robot itself is not struck", Of(notes{"/": "User-agent: GPTBot\nDisallow: /~bob/\n", "/~bob/": "User-agent: GPTBot\nDisallow: /\nAllow: /phlog/\n"}), []string{"gptbot +/~bob/phlog/x -/~bob/x"}},
	{"a named Allow beside the ban covers", Of(notes{"/": "User-agent: GPTBot\nDisallow: /~bob/\nAllow: /~bob/pub\n", "/~bob/": "Allow: /pub/x/\nAllow: /q/\nDisallow: /pub/z\nAllow: /pub/z/y\n"}), []string{"gptbot +/~bob/pub/x/y +/~bob/pub -/~bob/q/x -/~bob/pub/z +/~bob/pub/z/y"}},
	{"a ban by name is carried below", Of(notes{"/": "User-agent: GPTBot\nDisallow: /*.zip$\nDisallow: /~bob/x\n", "/~bob/": deniedBob}), []string{"gptbot -/~bob/phlog/x.zip +/~bob/phlog/x", "* +/~bob/phlog/x.zip"}},
	{"a ban by name whose Allow begins higher up", Of(notes{"/": "User-agent: GPTBot\nDisallow: /*/drafts/\n", "/~bob/": "Allow: /*/drafts/*.txt\n", "/~bob/x/": "Allow: /\n"}), []string{"gptbot -/~bob/x/drafts/q.txt +/~bob/x/q", "* +/~bob/x/drafts/q.txt"}},
	{"Final denies", Of(notes{"/": "Final: /a\nFinal: /*.zip$\n"}), []string{"* -/a -/ab -/x/y.zip +/b"}},
	{"Final holds against every Allow further down", Of(notes{"/": "Final: /~bob/x\n", "/~bob/": "Allow: /xyz\nUser-agent: foo\nAllow: /x\n"}), []string{"* -/~bob/xyz", "foo -/~bob/x"}},
	{"Final does not hold against its own annotation", Of(notes{"/": "Final: /~bob/\nAllow: /~bob/pub/\n", "/~bob/": "Allow: /pub/x\nAllow: /q\nDisallow: /pub/z\nAllow: /pub/z/y\n"}), []string{"* +/~bob/pub/x +/~bob/pub/y -/~bob/q -/~bob/pub/z +/~bob/pub/z/y"}},
	{"Final with a wildcard is carried below", Of(notes{"/": "Final: /*/secret/\n", "/~bob/": deniedBob}), []string{"* +/~bob/phlog/x -/~bob/phlog/secret/x -/~bob/phlog/q/secret/ -/~bob/x -/a/secret/"}},
	{"Final of what an Allow ends with", Of(notes{"/": "Final: /*.zip$\n", "/d/": "Disallow: /\nAllow: /x.zip\n"}), []string{"* -/d/x.zip +/d/x.zipped -/d/x.zip/y.zip +/d/x.zip/y"}},
	{"Final of what begins inside of an Allow's last name", Of(notes{"/": "Final: /*secret\nDisallow: /ab/\n", "/ab/": "Allow: /drafts\n"}), []string{"* +/ab/drafts -/ab/draftsecret -/ab/drafts/secret +/ab/drafts/x -/secret +/b"}},
	{"Final of a name below an Allow", Of(notes{"/": "Final: /*s/secret\nFinal: /*/2019/\nDisallow: /ab/\n", "/ab/": "Allow: /drafts\nAllow: /q/\n"}), []string{"* +/ab/drafts -/ab/drafts/secret +/ab/draftsecret -/ab/q/2019/ +/ab/q/a"}},
	{"Final whose pieces an Allow holds in part", Of(notes{"/": "Final: /*/drafts/*.zip$\nDisallow: /ab/\n", "/ab/": "Allow: /drafts/x\n"}), []string{"* +/ab/drafts/x -/ab/drafts/x.zip -/ab/drafts/xy/b.zip +/ab/drafts/x.txt"}},
	{"Final of what an Allow holds", Of(notes{"/": "Final: /*/secret/\n", "/d/": "Disallow: /\nAllow: /secret/pub/\n"}), []string{"* -/d/secret/pub/x"}},
	{"Final of what an Allow begins with", Of(notes{"/d/": "Final: /*x\n", "/d/xa/": "Allow: /\n"}), []string{"* -/d/xa/ -/d/xa/b -/d/qx +/d/q +/x"}},
	{"Final in a robot's own group", Of(notes{"/": "Disallow: /q\nUser-agent: foo\nFinal: /d/x\n", "/d/": "Allow: /x\nUser-agent: foo\nAllow: /xy\n"}), []string{"foo -/d/x -/d/xy +/q", "* +/d/x -/q"}},
	{"Final with another wildcard is a Disallow", Of(notes{"/": "Final: /a*b\n", "/a/": "Allow: /bcd\n"}), []string{"* -/ab +/a/bcd"}},
	{"Final is about fetching", Of(notes{"/": "Final: /d/x\nContent-Usage: search=n\n", "/d/": "Content-Usage: search=y\n"}), []string{"* -/d/x search=y +/q search=n"}},
	{"what a program answers is denied", Of(notes{"/d/": "Allow: /\n"}, "/cgi", "/*.x", "/d/cgi"), []string{"* -/cgi -/cgi/a -/cgi?a +/cgia -/q.x -/d/q.x -/d/q.x/y -/q.x?a +/q.xy -/d/cgi"}},
	{"the menu of a directory that a program makes", Of(notes{"/d/": "Allow: /a\n"}, "/d/", "/e/"), []string{"* -/d/ +/d/a -/e/ +/e/a +/e +/"}},
	{"the menu of the root", Of(notes{}, "/"), []string{"* -/ +/a +/a/"}},
	{"an Allow of a menu", Of(notes{"/d/": "Allow: /$\n", "/e/": "User-agent: foo\nAllow: /$\n", "/f/": "Allow: /\n"}, "/d/", "/e/", "/f/"), []string{"* +/d/ -/e/ -/f/ +/f/a", "foo +/d/ +/e/"}},
	{"the programs of all users", Of(notes{"/~bob/": "Allow: /cgi/\n"}, "/~*/cgi"), []string{"* -/~al/cgi -/~al/cgi/a -/~al/cgi?a +/~al/cgia +/~bob/cgi/a -/~bob/cgi +/~al/a +/cgi/a"}},
	{"an Allow of the programs of all users", Of(notes{"/": "Allow: /~*/cgi*\n"}, "/~*/cgi"), []string{"* +/~al/cgi +/~al/cgi/a -/~al/cgi?a"}},
	{"an Allow of the programs of a user above", Of(notes{"/": "Allow: /~al/cgi/x$\nAllow: /~al/\n"}, "/~*/cgi"), []string{"* -/~al/cgi/x -/~al/cgi/y +/~al/a"}},
	{"an Allow of a program's path", Of(notes{"/": "Allow: /cgi*\nAllow: /d/p$\nAllow: /q\nAllow: /r?\n"}, "/cgi", "/d/p", "/q", "/r"), []string{"* +/cgi +/cgi/a -/cgi?a +/d/p -/d/p/x -/q -/q/a -/r +/r?a"}},
	{"an Allow of an extension", Of(notes{"/": "Allow: /*.x*\n", "/d/": "Allow: /q.y\n"}, "/*.x", "/*.y"), []string{"* +/q.x +/d/q.x/a +/d/q.y -/q.y -/d/r.y"}},
	{"programs are carried below other Allows", Of(notes{"/": "Disallow: /\nAllow: /public/\n", "/d/": "Allow: /public/\n"}, "/*.x"), []string{"* +/public/a -/public/a.x -/d/public/q/a.x +/d/public/a"}},
	{"an Allow of what lies below a program", Of(notes{"/d/": "Allow: /q.x/sub\n"}, "/*.x"), []string{"* -/d/q.x/sub/a -/d/q.x/a -/d/q.x/sub/p.x +/d/x"}},
	{"programs are carried below an Allow with a star", Of(notes{"/~bob/": "Disallow: /\nAllow: /*/pub/\n"}, "/*.x"), []string{"* -/~bob/q/pub/a.x +/~bob/q/pub/a -/~bob/a"}},
	{"a robot of its own group is kept out of programs", Of(notes{"/": "User-agent: foo\nAllow: /\n"}, "/cgi"), []string{"foo -/cgi +/a"}},
	{"a directory that cannot be read", unreadable(notes{"/": "Allow: /d/x\nAllow: /*/y\nUser-agent: foo\nAllow: /d/\n", "/d/": "Allow: /\n", "/d/e/": "Allow: /\n"}, "/d/"), []string{"* -/d/ -/d/x -/d/e/x +/d +/q/y", "foo -/d/x"}},
	{"a directory that cannot be read, below an Allow that repeats a Disallow", unreadable(notes{"/": "Disallow: /d/x/\nAllow: /d/x/\n", "/d/": ""}, "/d/"), []string{"* -/d/ -/d/x/ +/d"}},
	{"a directory that cannot be read, and is denied from above", unreadable(notes{"/": "Disallow: /d/\nAllow: /*$\n", "/d/": ""}, "/d/"), []string{"* -/d/ -/d/x +/d +/q"}},
	{"virtual agents lose nothing that either is denied", Of(notes{"/": "Disallow: /a\nUser-agent: archiver\nAllow: /a\nDisallow: /b\nUser-agent: indexer\nDisallow: /c\n"}), []string{"archiver +/a -/b", "indexer +/a -/c", "webproxy -/a"}},
	{"virtual agents strike nothing of each other", Of(notes{"/": "User-agent: archiver\nDisallow: /b\nUser-agent: indexer, foo\nDisallow: /\nAllow: /b\nAllow: /c\n"}), []string{"indexer +/b +/c -/d", "archiver -/b +/c", "researcher +/b", "foo +/b +/c"}},
	{"the end of a spelling is closed to a robot of two kinds", Of(notes{"/": "Final: /*drafts/\n", "/drafts/": "User-agent: archiver\nAllow: /\n", "/drafts/x/": "User-agent: indexer\nDisallow: /y/$\n"}), []string{"indexer -/drafts/x/y/"}},
	{"a Disallow of stars alone leaves nothing", Of(notes{"/": "User-agent: indexer\nDisallow: /*/*\n", "/a/": "Allow: /\nUser-agent: researcher\nDisallow: /b\nAllow: /\n"}), []string{"indexer -/a/ -/a/b", "researcher -/a/b +/a/c"}},
	{"one user's program, of the programs of all", Of(notes{"/~bob/": "Allow: /cgi\nAllow: /x/cgi\n"}, "/~*/cgi"), []string{"* +/~bob/cgi +/~bob/cgi/x +/~bob/x/cgi -/~ann/cgi"}},
	{"a name that a pattern's own bytes spell", Of(notes{"/a$$/": "Disallow: /\nAllow: /éé/\n"}), []string{"* -/a$$/%C3%A9%C3%A9/ +/a$$/éé/"}},
	{"an escape that is part of a name, below a star", Of(notes{"/a/": "Allow: /*é\nDisallow: /ab/a/\n"}), []string{"* -/a/ab/a/%C3%A9 +/a/é"}},
	{"an Allow of both virtual agents counts", Of(notes{"/": "User-agent: archiver\nDisallow: /b\nUser-agent: indexer\nDisallow: /b\nAllow: /b/x\n", "/b/": "User-agent: archiver\nAllow: /x\n"}), []string{"indexer +/b/x -/b/y", "archiver +/b/x -/b/y"}},
	{"an Allow as long as the Final beside it covers", Of(notes{"/": "Final: /d/x\nAllow: /d/x\n", "/d/": "Disallow: /xy\nAllow: /xyz\n"}), []string{"* +/d/x -/d/xy +/d/xyz"}},
	{"a name with a blank is its first word", Of(notes{"/": "User-agent: ChatGPT Agent\nDisallow: /a\nUser-agent: ChatGPT\nDisallow: /b\n"}), []string{"chatgpt -/a -/b", "* +/a +/b"}},
	{"a preference ends a run of names", Of(notes{"/": "User-agent: foo\nContent-Usage: search=n\nUser-agent: bar\nDisallow: /a\n"}), []string{"foo +/a search=n", "bar -/a"}},
	{"a line without a meaning changes none", Of(notes{"/": "Disallow: /a\nnonsense\nUser-agent\nDisallow: /b\n"}), []string{"* -/a -/b +/c"}},
	{"n wins among preferences about one path", Of(notes{"/": "Content-Usage: /a search=y\nContent-Usage: /a search=n\nContent-Usage: /b search=n\nContent-Usage: /b search=y\n"}), []string{"* +/a search=n +/b search=n"}},
	{"preferences key by key", Of(notes{"/": "Content-Usage: train-ai=n, search=n\n", "/~bob/": "Content-Usage: search=y\nContent-Usage: /x/ train-ai=y\n"}), []string{"* +/~bob/a search=y train-ai=n +/~bob/x/a search=y train-ai=y +/a search=n train-ai=n"}},
	{"a preference about a name that is a directory, too", Of(notes{"/": "Content-Usage: /b$ search=n\n", "/b/": "Disallow: /x\n"}), []string{"* +/b search=n +/b/a -/b/x"}},
	{"a preference by name further down", Of(notes{"/a/": "User-agent: foo\nContent-Usage: /b/c/ search=n\n", "/a/b/": "Content-Usage: train-ai=n\n"}), []string{"foo +/a/b/d train-ai=n +/a/b/c/d train-ai=n search=n"}},
	{"a preference by name with a wildcard", Of(notes{"/": "User-agent: foo\nContent-Usage: /*b train-ai=n\n", "/a/": "Content-Usage: /c/ train-ai=y\n"}), []string{"foo +/a/c/xb train-ai=n", "* +/a/c/xb train-ai=y"}},
	{"a preference by name, of one key among two", Of(notes{"/": "User-agent: foo\nContent-Usage: ai-use=n\n", "/~bob/": "Content-Usage: ai-use=y, search=y\n"}), []string{"foo +/~bob/a ai-use=n search=y", "* +/~bob/a ai-use=y search=y"}},
	{"a preference by name that a longer path above overrides", Of(notes{"/a/": "Content-Usage: /b/cd/ search=y\n", "/a/b/": "User-agent: foo\nContent-Usage: search=n\n", "/a/b/cd/": "Content-Usage: search=n\n"}), []string{"foo +/a/b/cd/ search=n +/a/b/ce search=n", "* +/a/b/cd/ search=n"}},
	{"preferences by name", Of(notes{"/": "User-agent: foo\nContent-Usage: train-ai=n\n", "/~bob/": "Content-Usage: train-ai=y, search=y\n"}), []string{"foo +/~bob/a train-ai=n search=y", "* +/~bob/a train-ai=y search=y"}},
}

// The meeting of a Disallow and an Allow.
var meetings = []Case{
	{"a ban by name is carried below an Allow with a star", Of(notes{"/": "User-agent: foo\nDisallow: /*.dcgi/\n", "/~bob/": "Disallow: /\nAllow: /*.txt\n"}), []string{"foo +/~bob/a.txt -/~bob/b.dcgi/a.txt -/~bob/a.txt/b.dcgi/ -/~bob/a", "* +/~bob/b.dcgi/a.txt"}},
	{"a Final as long as an Allow is carried, too", Of(notes{"/": "Final: /*.zip$\n", "/d/": "Disallow: /\nAllow: /abcd\n"}), []string{"* +/d/abcd -/d/abcd.zip +/d/abcd.zip/x"}},
	{"an Allow that a ban covers is struck", Of(notes{"/": "User-agent: foo\nDisallow: /*x\n", "/d/": "Allow: /ax/b\nDisallow: /ax\n"}), []string{"foo -/d/ax/b", "* +/d/ax/b -/d/ax/c"}},
	{"with more than three stars an Allow is struck", Of(notes{"/": "Final: /*a*b\nDisallow: /d/\n", "/d/": "Allow: /*cc*dd\nAllow: /*ccc\n"}), []string{"* -/d/ccdd +/d/ccc -/d/cccab"}},
	{"only an Allow that is not struck excepts", Of(notes{"/": "Final: /d/\n", "/d/": "User-agent: foo\nAllow: /e/\nDisallow: /e\n", "/d/e/": "Allow: /x\n"}), []string{"foo -/d/e/x -/d/e/"}},
	{"an Allow of another group excepts nothing", Of(notes{"/": "Allow: /d/\nUser-agent: foo\nDisallow: /d/\n", "/d/": "Allow: /x\n"}), []string{"foo -/d/x", "* +/d/x"}},
	{"an Allow by name excepts nothing from a Final for everybody", Of(notes{"/": "Final: /d/\nUser-agent: foo\nAllow: /d/e\n", "/d/e/": "Disallow: /q\nAllow: /qq\n"}), []string{"foo -/d/e/qq +/d/e/x -/d/f", "* -/d/e/qq -/d/e/x"}},
	{"a Final for everybody holds for a robot that is named", Of(notes{"/": "Final: /a\nDisallow: /c\nUser-agent: foo\nDisallow: /b\n"}), []string{"foo -/a -/b +/c", "* -/a -/c +/b"}},
	{"an Allow of the root is below programs", Of(notes{"/": "Disallow: /\nAllow: /*.txt$\n"}, "/*.dcgi"), []string{"* +/a.txt -/wiki.dcgi/page.txt -/page.dcgi?q=a.txt -/a.dcgi"}},
	{"an Allow with a star is below the programs of all users", Of(notes{"/~bob/": "Disallow: /\nAllow: /*/*.txt$\n"}, "/~*/cgi-bin"), []string{"* +/~bob/a/x.txt -/~bob/cgi-bin/x.txt -/~bob/x.txt"}},
}

// How lines are cut into words.
var words = []Case{
	{"a blank that is not ASCII is trimmed from a Disallow", Of(notes{"/": "Disallow: /a\u00a0\nDisallow:\u2028/b\nDisallow: /c\u0085 \nDisallow: /d\u2029x\n"}), []string{"* -/a -/aq -/b -/c -/d\u2029x +/d"}},
	{"a blank that is not ASCII is part of an Allow", Of(notes{"/": "Disallow: /a\nAllow: /a\u00a0\n"}), []string{"* -/a -/ab +/a\u00a0b"}},
	{"a field with a blank that is not ASCII", Of(notes{"/": "\u00a0Disallow: /a\nDisallow\u2003: /b\nAllow\ufeff: /ac\n\ufeffUser-agent\u3000: foo\nDisallow: /z\n"}), []string{"* -/a -/b +/ac", "foo -/z +/a"}},
	{"a name ends at a blank of any kind", Of(notes{"/": "User-agent: foo\u00a0\nDisallow: /a\nUser-agent: \u2028bar\nDisallow: /b\n"}), []string{"foo -/a +/b", "bar -/b +/a", "* +/a +/b"}},
	{"a long name is a name", Of(notes{"/": "User-agent: " + long + "\nDisallow: /a\n"}), []string{long + " -/a", "* +/a"}},
	{"a run of stars is one star", Of(notes{"/": "Disallow: /drafts/**\nDisallow: /**.zip\n", "/drafts/": "Allow: /a\n"}), []string{"* +/drafts/a -/drafts/b -/x.zip"}},
	{"an empty Final is no line", Of(notes{"/": "User-agent: foo\nFinal:\nUser-agent: bar\nDisallow: /a\n"}), []string{"foo -/a", "bar -/a", "* +/a"}},
	{"an unknown field ends no run of names", Of(notes{"/": "User-agent: foo\nCrawl-delay: 2\nUser-agent: bar\nDisallow: /a\n"}), []string{"foo -/a", "bar -/a"}},
	{"a near miss of Disallow counts, one of Allow does not", Of(notes{"/": "Disalow: /a\nAlow: /ab\nDisallow /c\nAllow /cd\nDisallowAll: /e\nUser-agent: foo\nAlow: /x\n"}), []string{"* -/a -/ab -/c -/cd +/e", "foo -/a"}},
	{"a value that nobody can ask for counts", Of(notes{"/": "Disallow: /a\nUser-agent: foo\nDisallow: /b\tc\n"}), []string{"foo +/a +/b", "* -/a"}},
	{"what follows a NUL is lost", Of(notes{"/": "Disallow: /a\x00b\n"}), []string{"* -/a -/ac"}},
	{"a value without a slash gets one", Of(notes{"/d/": "Disallow: x\nDisallow: ?q\nDisallow: $\n"}), []string{"* -/d/x -/d/?q -/d/ +/d/y"}},
	{"a URL counts by its path", Of(notes{"/": "Disallow: gopher://h/0/a/x\nDisallow: gopher://h/drafts/\nDisallow: https://h/b\nDisallow: https://h//c\n"}), []string{"* -/a/x -/drafts/y -/b +/0 +/ +/c"}},
	{"Final takes a path, or a star and a rest", Of(notes{"/": "Final: *.zip$\nFinal: /a/*/b\nAllow: /q\n", "/d/": "Allow: /x\nAllow: /y.zip$\n", "/a/": "Allow: /c/b\n"}), []string{"* +/d/x +/a/c/b -/d/y.zip +/q"}},
	{"a Final of everything is a Disallow", Of(notes{"/": "Final: /*\n", "/d/": "Allow: /x\n"}), []string{"* +/d/x -/d/y"}},
	{"a path of a preference has no star", Of(notes{"/": "Content-Usage: /a*b search=n\nContent-Usage: /c* search=y\nContent-Usage: /d$ train-ai=n, search=y\n"}), []string{"* +/ax search=n +/dx train-ai=n", "* +/c"}},
	{"a preference with a blank that is not ASCII forbids only", Of(notes{"/": "Content-Usage: search=y\u00a0\nContent-Usage: /a train-ai=n, search=y\u2029\n"}), []string{"* +/a train-ai=n"}},
	{"a y for everybody changes no n by name above", Of(notes{"/": "User-agent: foo\nContent-Usage: /d/e/f search=n\n", "/d/": "Content-Usage: /e/ search=y\n"}), []string{"foo +/d/e/f search=n +/d/e/g search=y", "* +/d/e/f search=y"}},
	{"an n for everybody changes a y by name above", Of(notes{"/": "User-agent: foo\nContent-Usage: search=y\n", "/d/": "Content-Usage: search=n\n"}), []string{"foo +/d/e search=n +/e search=y"}},
}

// The two trees of a home.
var trees = []Case{
	{"what either of two trees denies", two("Disallow: /a\n", "Disallow: /b\n"), []string{"* -/~bob/a -/~bob/b +/~bob/c +/a"}},
	{"an Allow of neither of two trees counts", two("Disallow: /a\nAllow: /ab\n", "Disallow: /b\nAllow: /\n"), []string{"* -/~bob/ab -/~bob/b +/~bob/c"}},
	{"a robot that one of two trees names", two("User-agent: GPTBot\nDisallow: /\n", "Disallow: /x\n"), []string{"gptbot -/~bob/a", "* +/~bob/a -/~bob/x"}},
	{"a robot that one of two trees names keeps to the other", two("Disallow: /a\nUser-agent: foo\nDisallow: /b\n", "User-agent: *\nDisallow: /c\nUser-agent: bar\nDisallow: /d\n"),
		[]string{"foo +/~bob/a -/~bob/b -/~bob/c +/~bob/d", "bar -/~bob/a +/~bob/b +/~bob/c -/~bob/d", "* -/~bob/a +/~bob/b -/~bob/c +/~bob/d"}},
	{"a robot that both trees name", two("Disallow: /a\nUser-agent: foo\nDisallow: /b\n", "Disallow: /c\nUser-agent: foo\nDisallow: /d\n"), []string{"foo +/~bob/a -/~bob/b +/~bob/c -/~bob/d", "* -/~bob/a -/~bob/c"}},
	{"a robot that one of two trees lets in", two("Disallow: /a\nUser-agent: foo\nAllow: /\nUser-agent: bar\nDisallow:\n", "Disallow: /c\n"), []string{"foo +/~bob/a -/~bob/c", "bar +/~bob/a -/~bob/c", "* -/~bob/a -/~bob/c"}},
	{"a group for everybody and a robot, in one of two trees", two("User-agent: *, foo\nDisallow: /a\n", "Disallow: /c\nUser-agent: foo\nDisallow: /d\n"), []string{"foo -/~bob/a +/~bob/c -/~bob/d", "* -/~bob/a -/~bob/c +/~bob/d"}},
	{"a robot of which one of two trees has a preference alone", two("Disallow: /a\nUser-agent: foo\nContent-Usage: search=n\n", "Disallow: /c\nUser-agent: bar\nDisallow: /d\n"), []string{"foo -/~bob/a search=n -/~bob/c search=n", "bar -/~bob/a +/~bob/c -/~bob/d"}},
	{"a preference in one tree, rules in the other", two("Disallow: /a\nUser-agent: foo\nContent-Usage: search=n\n", "Disallow: /c\nUser-agent: foo\nDisallow: /d\n"), []string{"foo -/~bob/a +/~bob/c -/~bob/d search=n"}},
	{"a Final of one of two trees", two("Final: /a\nUser-agent: foo\nDisallow: /b\n", "Final: /c\nDisallow: /d\n"), []string{"foo -/~bob/a -/~bob/b -/~bob/c -/~bob/d"}},
	{"two trees, and the root", twoBelow("Disallow: /~bob/a\nAllow: /~bob/abc\nUser-agent: foo\nDisallow: /~bob/x\n", "Disallow: /abcd\n", "User-agent: foo\nDisallow: /ab\n"), []string{"* -/~bob/a -/~bob/ab +/~bob/abc -/~bob/abcd", "foo -/~bob/x +/~bob/a -/~bob/abc -/~bob/abcd"}},
}

// two is a home with two trees.
func two(gopher, gemini string) Site { return twoBelow("", gopher, gemini) }

func twoBelow(root, gopher, gemini string) Site {
	s := Of(notes{"/": root, "/~bob/": gopher})
	s.Gemini = []Note{{Dir: "/~bob/", File: "gemini=~bob/.robots", Data: []byte(gemini)}}
	return s
}

var long = strings.Repeat("n", 65)

func unreadable(n notes, dir string) Site {
	s := Of(n)
	for i := range s.Notes {
		if s.Notes[i].Dir == dir {
			s.Notes[i].Err = errUnreadable
		}
	}
	return s
}
