package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"time"
)

// Amazon's event streams are binary. They consist of consecutive messages, each
//
//	length of the message, length of its headers, checksum of these two (4 bytes each)
//	headers, payload
//	checksum of all before it (4 bytes)
//
// with numbers in network order and CRC-32 as checksum. The first byte of a stream is 0, since a message has less than
// 16 MB, and no other form of answer begins with that byte.
const (
	preludeSize  = 12
	checksumSize = 4
	largestFrame = 16<<20 + 128<<10 + preludeSize + checksumSize
)

// frame is a message of an event stream.
type frame struct {
	headers map[string]string // the headers with text values
	payload []byte
}

// readFrame reads one message. It returns io.EOF if the stream ends between two messages, io.ErrUnexpectedEOF if it
// ends within one, and *malformed for anything else.
func readFrame(r io.Reader) (*frame, error) {
	var prelude [preludeSize]byte
	if _, err := io.ReadFull(r, prelude[:]); err != nil {
		return nil, err
	}
	size, headers := binary.BigEndian.Uint32(prelude[:4]), binary.BigEndian.Uint32(prelude[4:8])
	if crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]) {
		return nil, &malformed{"a message of the event stream is damaged: the checksum of its lengths is wrong"}
	}
	if size > largestFrame || uint64(size) < preludeSize+uint64(headers)+checksumSize {
		return nil, &malformed{fmt.Sprintf("a message of the event stream cannot have %d bytes with %d bytes of headers", size, headers)}
	}
	var message bytes.Buffer
	message.Write(prelude[:])
	// The announced length is not allocated before the data arrives.
	if _, err := io.CopyN(&message, r, int64(size)-preludeSize); errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, err
	}
	data := message.Bytes()
	end := len(data) - checksumSize
	if crc32.ChecksumIEEE(data[:end]) != binary.BigEndian.Uint32(data[end:]) {
		return nil, &malformed{"a message of the event stream is damaged: its checksum is wrong"}
	}
	f := &frame{payload: data[preludeSize+headers : end]}
	var ok bool
	if f.headers, ok = frameHeaders(data[preludeSize : preludeSize+headers]); !ok {
		return nil, &malformed{"the headers of a message of the event stream are damaged"}
	}
	return f, nil
}

// frameSizes are the sizes of header values by type: true, false, numbers of 1, 2, 4 and 8 bytes, bytes and text with a
// length prefix, times and UUIDs.
var frameSizes = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

const textHeader = 7

func frameHeaders(data []byte) (map[string]string, bool) {
	headers := map[string]string{}
	for len(data) > 0 {
		n := int(data[0])
		if n == 0 || len(data) < n+2 || int(data[n+1]) >= len(frameSizes) {
			return nil, false
		}
		name, kind := string(data[1:n+1]), data[n+1]
		size := frameSizes[kind]
		data = data[n+2:]
		if size < 0 {
			if len(data) < 2 {
				return nil, false
			}
			size, data = int(binary.BigEndian.Uint16(data)), data[2:]
		}
		if len(data) < size {
			return nil, false
		}
		if kind == textHeader {
			headers[name] = string(data[:size])
		}
		data = data[size:]
	}
	return headers, true
}

// piece returns an event as JSON, nil for an empty one. For a model with another form, the provider wraps the events in
// chunks. Events in the provider's own form are named by their header and become {name: payload}, the same form that
// models which speak it put into chunks.
func (f *frame) piece() (json.RawMessage, error) {
	name := f.headers[":event-type"]
	if name == "" || len(bytes.TrimSpace(f.payload)) == 0 {
		return nil, nil
	}
	if !json.Valid(f.payload) {
		return nil, &malformed{"the event stream holds an event that is not valid JSON"}
	}
	if name != "chunk" {
		named := newBody()
		named.SetRaw(name, f.payload)
		return named.MarshalJSON()
	}
	var chunk struct {
		Bytes string `json:"bytes"`
	}
	if json.Unmarshal(f.payload, &chunk) != nil || chunk.Bytes == "" {
		return f.payload, nil
	}
	inner, err := base64.StdEncoding.DecodeString(chunk.Bytes)
	if err != nil || !json.Valid(inner) {
		return nil, &malformed{"the event stream holds a chunk that is not valid JSON in base64"}
	}
	return inner, nil
}

// broken returns the failure that a message reports instead of an event, nil if it reports none.
func (f *frame) broken(a *answer) *failure {
	name, message := "", string(f.payload)
	switch f.headers[":message-type"] {
	case "exception":
		name = f.headers[":exception-type"]
	case "error":
		name, message = f.headers[":error-code"], `{"message":`+quoted(f.headers[":error-message"])+`}`
	default:
		return nil
	}
	header := http.Header{"X-Amzn-Errortype": {name}}
	return classify("bedrock", exceptionStatus[name], header, []byte(a.keys.String(message)), time.Time{})
}

// nextFrame returns the next event, nil for an empty one. A message that reports a failure ends the stream.
func nextFrame(r io.Reader, a *answer) (json.RawMessage, error) {
	f, err := readFrame(r)
	if err != nil {
		return nil, err
	}
	if a.failure = f.broken(a); a.failure != nil {
		return nil, io.EOF
	}
	return f.piece()
}

// framePieces returns the first events of an event stream.
func framePieces(body []byte) [][]byte {
	var pieces [][]byte
	r := bytes.NewReader(body)
	for len(pieces) < look {
		f, err := readFrame(r)
		if err != nil {
			break
		}
		if data, err := f.piece(); err == nil && data != nil {
			pieces = append(pieces, data)
		}
	}
	return pieces
}
