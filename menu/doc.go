// Package menu makes Gopher menus: items and their wire form, item types by file
// name and content, directory listings, gophermaps and menus as other servers read
// them (gophernicus, Bucktooth, Motsognir, spacecookie, geomyidae, UMN gopherd and
// pygopherd), and the few other documents that a server writes itself.
//
// It is useful alone for programs that generate menus, serve a tree of their own, or
// read the menus of others ([ParseItem]). It runs nothing: what other servers run
// is reported ([CodeProgram]) and not shown. It keeps no state and caches nothing;
// [Menu].Files and [Menu].Changing tell a cache what a menu was made from.
//
//	Builder.Menu → a map (sources.go) → lines (gophermap.go) → items (entry.go)
//	             → or a listing (listing.go), as .names and others change it (umn.go)
//
// Whatever a file name, a gophermap or a query holds, no control character reaches a
// label, a selector or a host on the wire: [Item.AppendTo] sees to it. Any line of
// a map costs at most itself.
package menu
