package temporal

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// longestID bounds the id of an activity; the server takes 1,000 bytes.
const longestID = 900

// short is the id of an effect as that of its activity: one that is too long keeps its end, and a digest of all.
func short(id string) string {
	if len(id) <= longestID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16]) + "…" + strings.ToValidUTF8(id[len(id)-200:], "")
}

// longestText bounds the text of a failure in a history. The whole of it is kept as the end of the run.
const longestText = 4_000

// plain is a text as a message to the server takes it: one that is not UTF-8, or too large, would have its task be sent in vain
// for ever.
func plain(s string) string {
	return text.ClipBytes(strings.ToValidUTF8(text.Cut(s, longestText+1), "\uFFFD"), longestText)
}

// bundleKey is the key of the blob that a script is.
func bundleKey(hash string) string {
	sum := sha256.Sum256([]byte("bundle " + hash))
	return hex.EncodeToString(sum[:])
}
