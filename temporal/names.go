package temporal

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// maxActivityID bounds the id of an activity; the server accepts 1,000 bytes.
const maxActivityID = 900

// activityID returns the id of an effect as the id of its activity. An id that is too long becomes a digest of the
// whole id and its end.
func activityID(id string) string {
	if len(id) <= maxActivityID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16]) + "…" + strings.ToValidUTF8(id[len(id)-200:], "")
}

// maxMessage bounds the text of a failure in a history. The end of the run holds the whole text.
const maxMessage = 4_000

// messageText returns a text as the server accepts it in a message. With a text that is not UTF-8, or too large, the
// task would be sent in vain, again and again.
func messageText(s string) string {
	return text.ClipBytes(strings.ToValidUTF8(text.Cut(s, maxMessage+1), "\uFFFD"), maxMessage)
}

// bundleKey returns the key of the blob that holds a script.
func bundleKey(hash string) string {
	sum := sha256.Sum256([]byte("bundle " + hash))
	return hex.EncodeToString(sum[:])
}
