package temporal

import (
	"crypto/sha256"
	"encoding/hex"
)

// longestID bounds the id of an activity; the server takes 1,000 bytes.
const longestID = 900

// short is the id of an effect as that of its activity: one that is too long keeps its end, and a digest of all.
func short(id string) string {
	if len(id) <= longestID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16]) + "…" + id[len(id)-200:]
}

// bundleKey is the key of the blob that a script is.
func bundleKey(hash string) string {
	sum := sha256.Sum256([]byte("bundle " + hash))
	return hex.EncodeToString(sum[:])
}
