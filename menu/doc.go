// Package menu makes Gopher menus: items and their wire form, item types by file
// name and content, gophermaps as gophernicus, Bucktooth and geomyidae read them,
// directory listings, and the few other documents that a server writes itself.
//
// It is useful alone to whoever generates menus, serves a tree of one's own, or
// reads the menus of others ([ParseItem]). It runs nothing: executable gophermaps
// and lists of users or virtual hosts are reported as not supported. It keeps no
// state and caches nothing; [Menu].Files tells a cache what a menu was made from.
//
// Whatever a file name, a gophermap or a query holds, no control octet reaches a
// label, a selector or a host on the wire: [Item.AppendTo] sees to it.
package menu
