// Package answer works out what a selector leads to. It is the one place for that:
// the fronts (Gopher, web and others) only write a [Value] down.
//
//	front → Host.Ask → robots.txt, URL:
//	                 → sources that come first (programs, status)
//	                 → Cache
//	                 → look up → menu or page: Limiter.made → Format.Draw → Cache
//	                           → file: in memory, or a stream
//	                           → sources beside the site (feeds, search): Limiter.made → Format.Draw
//	                           → error
//
// A front has a [Format] for each way in which it writes answers down, and asks with
// it. What the Format draws is kept under it, so that a front never sees the same
// menu twice. Host.Quick is the same for what needs no waiting.
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
//   - Replies are kept in one [Cache], with what they were made of.
//   - A Value never shows a stranger why something failed: its error does, and is for
//     the log.
package answer
