// Package abi fixes the recipe of positions and ids. Runs recorded under one Version can be
// resumed by every engine of that version; changing anything here is a new version.
package abi

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unicode/utf8"
)

// Version numbers the position grammar and the hash recipe.
const Version = 1

// Positions longer than maxPosition keep their last tail bytes behind a hash of the rest:
// stores and remote runtimes cap the length of ids.
const (
	maxPosition = 900
	tail        = 200
)

// Hash is the digest used for ids.
func Hash(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }

// AppendText appends a text of a request that is hashed. Its length comes first, so that where
// one text ends and the next begins is unambiguous; quoting would cost more than the hash.
//
//go:noinline
func AppendText(b []byte, s string) []byte {
	return append(append(strconv.AppendInt(b, int64(len(s)), 10), ':'), s...)
}

// Position returns path as an id holds it.
func Position(path string) string {
	if len(path) <= maxPosition {
		return path
	}
	cut := len(path) - tail
	for cut < len(path) && !utf8.RuneStart(path[cut]) { // an id is text
		cut++
	}
	sum := sha256.Sum256([]byte(path[:cut]))
	return "~" + hex.EncodeToString(sum[:8]) + "~" + path[cut:]
}
