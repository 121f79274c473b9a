// Package answer finds the answer to a selector. No other package does: the fronts
// (Gopher, web and others) only draw a [Value].
//
//	front → Host.Ask → robots.txt, URL:
//	                 → sources that come first (programs, status)
//	                 → Cache
//	                 → look up → menu or page: Limiter.made → Format.Draw → Cache
//	                           → file: in memory, or a stream
//	                           → sources beside the site (feeds, search): Limiter.made → Format.Draw
//	                           → error
//
// A front has a [Format] for each way in which it draws answers, and asks with it. The
// results are cached by Format, so a front never sees the same menu twice. Host.Quick
// does the same for answers that need no waiting.
//
//	tree, err := site.Open("content", site.Config{})
//	...
//	go tree.Run(ctx)
//	front := &gopher.Front{Host: &answer.Host{Site: tree}}
//	err = (&server.Server{Handler: front}).ListenAndServe(ctx, ":7070")
//
// Guarantees, for every front and host:
//
//   - Whatever is denied, hidden or refused is so on each front.
//   - Menus are made and directories are read only within the bounds of one [Limiter].
//   - Replies are cached in one [Cache], with stamps of their sources.
//   - A Value never shows a stranger why something failed: its error does, and is for
//     the log.
package answer
