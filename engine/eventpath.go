package engine

import "strings"

// reading is a position and how it reads.
type reading struct {
	at   *Frame
	path string
}

// nearby is how many segments up two positions look for each other.
const nearby = 3

// eventPath renders the branch's position by what differs from the last event's. Events follow each
// other closely, and to render all of a position for each would make nodes inside each other cost
// more the deeper they stand.
func (b *branch) eventPath() string {
	if b.last == nil {
		b.last = &reading{}
	}
	path, known := b.last.near(b.at, nearby)
	if !known {
		path = b.at.Path()
	}
	*b.last = reading{b.at, path}
	return path
}

// near reads a frame that is the position, a few segments above it, or below one of these.
func (r *reading) near(f *Frame, most int) (string, bool) {
	path := r.path
	for at, n := r.at, 0; at != nil && n <= nearby; at, n = at.parent(), n+1 {
		if at == f {
			return path, true
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))] // no segment holds one
	}
	if most == 0 || f.parent() == nil || r.at == nil {
		return "", false
	}
	up, known := r.near(f.parent(), most-1)
	if !known {
		return "", false
	}
	return up + "/" + string(f.segment(make([]byte, 0, 32))), true
}
