package site

// Unprivileged is for the tests outside the package.
var Unprivileged = unprivileged
