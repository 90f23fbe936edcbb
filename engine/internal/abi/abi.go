// Package abi fixes how positions and ids are computed. Every engine of the same Version can resume runs recorded under
// it; any change here requires a new version.
package abi

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unicode/utf8"
)

// Version numbers the position grammar and the hash recipe.
const Version = 1

// Positions longer than maxPosition keep their last tail bytes after a hash of the rest: stores and remote runtimes
// limit the length of ids.
const (
	maxPosition = 900
	tail        = 200
)

// Hash is the digest used for ids.
func Hash(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }

// AppendText appends a text of a hashed request. Its length comes first, which makes the boundaries between texts
// unambiguous; quoting would cost more than the hash.
//
//go:noinline
func AppendText(b []byte, s string) []byte {
	return append(append(strconv.AppendInt(b, int64(len(s)), 10), ':'), s...)
}

// Position returns the form of a path in ids.
func Position(path string) string {
	if len(path) <= maxPosition {
		return path
	}
	cut := len(path) - tail
	for cut < len(path) && !utf8.RuneStart(path[cut]) { // an id is valid UTF-8
		cut++
	}
	sum := sha256.Sum256([]byte(path[:cut]))
	return "~" + hex.EncodeToString(sum[:8]) + "~" + path[cut:]
}
