//go:build unix

package grant_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/generable"
)

// Promise 23.10 (capabilities): nobody who changes a granted directory while it is used can redirect an access outside
// of it: if a file or a directory becomes a symbolic link between the check and the use, nothing outside is read,
// written, listed or removed.
func TestPromise_23_10_SwappedLinks(t *testing.T) {
	dir, g := desk(t, grant.ReadWrite)
	outside := filepath.Join(dir, "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "desk", "x")
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.RemoveAll(at) // a file written meanwhile may be in the way: the next turn succeeds
			switch n % 3 {
			case 0:
				_ = os.Symlink(outside, at)
			case 1:
				_ = os.Mkdir(at, 0o755)
				_ = os.WriteFile(filepath.Join(at, "file"), []byte("inside"), 0o644)
			case 2:
				_ = os.Symlink("../outside", at)
			}
		}
	})
	seen := map[string]int{}
	for range 600 {
		if out := ask(t, g, "fs.read", "desk/x/file"); out.Err != nil {
			seen[string(out.Err.Code)]++
		} else if text := generable.JSON(out.Value, nil); text == `"outside"` {
			t.Fatal("what is outside was read")
		} else {
			seen[text]++
		}
		if out := ask(t, g, "fs.list", "desk/x"); out.Err == nil && len(generable.JSON(out.Value, nil)) > 200 {
			t.Fatal(out)
		}
		ask(t, g, "fs.write", "desk/x/new", `"text": "x"`)
		ask(t, g, "fs.remove", "desk/x/file")
	}
	close(stop)
	swapping.Wait()
	left, err := os.ReadDir(outside)
	if err != nil || len(left) != 1 || left[0].Name() != "file" {
		t.Errorf("outside there are %v, %v", left, err)
	}
	if text, err := os.ReadFile(filepath.Join(outside, "file")); err != nil || string(text) != "outside" {
		t.Errorf("the file outside holds %q, %v", text, err)
	}
	t.Log(seen)
}

// TestFSNames: paths are used literally; a hard link is the file itself, and a file may have any size if only a part of
// it is read.
func TestFSNames(t *testing.T) {
	dir, g := desk(t, grant.ReadWrite)
	gives(t, ask(t, g, "fs.read", "desk//docs/./b.md"), `"b"`)
	for _, path := range []string{"DESK/a.md", "Desk", `desk\a.md`, "desk ", " desk/a.md", "desk\u200b/a.md"} {
		fails(t, ask(t, g, "fs.read", path), diag.UngrantedUse, "--allow-fs")
	}
	if err := os.Link(filepath.Join(dir, "beside.md"), filepath.Join(dir, "desk", "hard")); err == nil {
		gives(t, ask(t, g, "fs.read", "desk/hard"), `"secret"`)
		gives(t, ask(t, g, "fs.write", "desk/hard", `"text": "other"`), `null`) // a new file in its place
		if text, err := os.ReadFile(filepath.Join(dir, "beside.md")); err != nil || string(text) != "secret" {
			t.Errorf("the other name of the file holds %q, %v", text, err)
		}
	}
	sparse, err := os.Create(filepath.Join(dir, "desk", "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := sparse.Truncate(1 << 40); err != nil {
		t.Log("no files of a terabyte here:", err)
	}
	sparse.WriteAt([]byte("begins"), 0)
	sparse.Close()
	fails(t, ask(t, g, "fs.read", "desk/sparse"), diag.TouchTooBig, "more than 1048576 bytes")
	gives(t, ask(t, g, "fs.read", "desk/sparse", `"limit": 6`), `"begins"`)
	all := granted(t, grant.FS("/", grant.ReadWrite))
	for _, path := range []string{"/dev/stdin", "/dev/fd/0", "/dev/tty", "/dev/random", "/proc/self/mem", "/sys/kernel/uevent_seqnum", "/proc/kcore"} {
		if out := ask(t, all, "fs.read", path); out.Err == nil {
			t.Errorf("%s is read", path)
		}
		if out := ask(t, all, "fs.write", path, `"text": "x"`); out.Err == nil {
			t.Errorf("%s is written", path)
		}
	}
}
