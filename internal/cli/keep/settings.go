package keep

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Settings are stored with a run: how it was called, for the command that resumes it. They contain no key.
type Settings struct {
	V        int                 `json:"v"`
	File     string              `json:"file,omitempty"` // the script, an absolute path
	Dir      string              `json:"dir,omitempty"`  // the directory in which the run began
	Flags    map[string][]string `json:"flags,omitempty"`
	Project  *project.Kept       `json:"project,omitempty"`
	From     string              `json:"from,omitempty"`     // the position of --from: a fork takes nothing from there, nor what began later
	Imported bool                `json:"imported,omitempty"` // it came from elsewhere, where somebody else granted what it had
}

// Flags, grouped by what happens to them when a run is continued.
const (
	limits  = "timeout max-model-calls max-tool-calls max-tokens max-usd max-depth max-steps"
	grants  = "allow-exec allow-net allow-fs allow-env"
	rules   = "allow ask deny"
	asking  = "retries fallback fallback-on-refusal max-in-flight prices cache env-file net-proxy on-unknown" // how effects are carried out: no request changes
	showing = "output json quiet verbose progress trace store help"
	fixed   = "model model-alias scripted mock seed mock-acts mcp-sampling session session-store tools compat root" // they change requests, or determine the script
)

func in(list, name string) bool { return slices.Contains(strings.Fields(list), name) }

// paths are the flags whose values are files or directories.
const paths = "prices cache env-file scripted session-store tools root output trace store"

// Record returns the settings of a run that these flags describe. from is the position of a fork.
func Record(o *setup.RunFlags, own *pflag.FlagSet, file, from string) (json.RawMessage, error) {
	s := Settings{V: 1, Flags: map[string][]string{}, Project: o.Project.Keep(), From: from}
	s.Dir, _ = os.Getwd() // without one, paths stay as they were given
	s.File = absolute(file)
	changed(own, func(f *pflag.Flag) {
		if !in(limits+" "+grants+" "+rules+" "+asking+" "+fixed+" yes", f.Name) {
			return
		}
		all := valuesOf(f)
		switch {
		case in(paths, f.Name):
			all = text.Each(all, absolute)
		case f.Name == "net-proxy":
			if u, err := url.Parse(all[0]); err != nil || u.User != nil { // it contains a password
				return
			}
		}
		s.Flags[f.Name] = all
	})
	return json.Marshal(s)
}

func absolute(path string) string {
	if at, err := filepath.Abs(path); err == nil && path != "" && path != "-" {
		return at
	}
	return path
}

// absoluteGrant makes the granted directory absolute, so that it stays the same in another working directory.
func absoluteGrant(value string) string {
	dir := setup.DirOf(value)
	if dir == "" { // it is refused
		return value
	}
	return absolute(dir) + value[len(dir):]
}

// valuesOf returns the texts that set a flag to its value.
func valuesOf(f *pflag.Flag) []string {
	if many, ok := f.Value.(pflag.SliceValue); ok {
		return many.GetSlice()
	}
	return []string{f.Value.String()}
}

// ReadSettings reads what was stored with a run. Runs that a host began have no settings. Settings that cannot be
// read are an error, because they may deny something.
func ReadSettings(run string, kept json.RawMessage) (s Settings, problem *term.Failure) {
	var any struct {
		V     *int            `json:"v"`
		Flags json.RawMessage `json:"flags"`
	}
	if kept == nil || json.Valid(kept) && (json.Unmarshal(kept, &any) != nil || any.V == nil && any.Flags == nil) { // a host has its own settings
		return s, nil
	}
	if err := json.Unmarshal(kept, &s); err != nil || s.V != 1 {
		return Settings{}, term.Usagef("agentscript runs export "+run+" writes what is kept; another version of agentscript may read it", "the settings of run %s cannot be read: %s", run, text.Visible(text.Clip(string(kept), 80)))
	}
	return s, nil
}

// Foreign returns the settings that apply on another machine: nothing is granted, and no file is present.
func (s Settings) Foreign() Settings {
	own := Settings{V: s.V, File: s.File, Flags: map[string][]string{}, Project: s.Project, From: s.From, Imported: true}
	for name, values := range s.Flags {
		if in(limits+" "+rules+" model model-alias seed retries fallback fallback-on-refusal max-in-flight tools compat", name) {
			own.Flags[name] = values
		}
	}
	return own
}

// Carried returns the settings that apply on any worker that carries out the run: those that bound it and those that
// change requests. The worker determines how effects are carried out, with what, and what they may touch.
func (s Settings) Carried() Settings {
	own := s
	own.Flags = map[string][]string{}
	for name, values := range s.Flags {
		if in(limits+" "+rules+" model model-alias seed on-unknown yes", name) {
			own.Flags[name] = values
		}
	}
	return own
}

// Hide hides the keys and secrets of the run, as far as this process has them.
func (s Settings) Hide(c *term.Console) {
	for _, path := range s.Flags["env-file"] {
		_, _ = setup.Secrets(c, path) // without the file they are not known here
	}
	setup.HideGranted(c, s.Flags["allow-env"])
}

// granted lists the flags among names that granted something to the run.
func (s Settings) granted(names []string) string {
	var all []string
	for _, name := range append(strings.Fields(grants), "yes") {
		if !slices.Contains(names, name) {
			continue
		}
		for _, value := range s.Flags[name] {
			if name == "yes" {
				all = append(all, "--yes")
				continue
			}
			all = append(all, "--"+name+" "+text.ShellWord(value))
		}
	}
	return strings.Join(all, " ")
}

// Apply sets the flags of a continued run: the stored ones, overridden by those given now. If something is granted
// now, nothing else is granted. It returns the stored flags that still grant something, "" for none.
func (s Settings) Apply(own, given *pflag.FlagSet) (granted string, problem *term.Failure) {
	var kept []string
	again := false // something is granted now
	changed(given, func(f *pflag.Flag) { again = again || in(grants, f.Name) })
	set := func(name string, values []string) {
		for _, value := range values {
			if err := own.Set(name, value); err != nil && problem == nil {
				problem = term.Usagef("", "--%s %q: %v", name, value, err)
			}
		}
	}
	for name, values := range s.Flags {
		grants := in(grants, name)
		switch {
		case own.Lookup(name) == nil, given.Changed(name) && !in(rules, name), grants && again, s.Imported && (grants || name == "yes"):
			continue
		}
		if grants || name == "yes" {
			kept = append(kept, name)
		}
		set(name, values)
	}
	changed(given, func(f *pflag.Flag) {
		if !in(rules, f.Name) && own.Lookup(f.Name) != nil { // rules apply in addition to the stored ones
			values := valuesOf(f)
			if in(paths, f.Name) {
				values = text.Each(values, absolute)
			}
			if f.Name == "allow-fs" {
				values = text.Each(values, absoluteGrant)
			}
			set(f.Name, values)
		}
	})
	return s.granted(kept), problem
}

// Anew returns the first of the given flags that cannot be given when a run is resumed, or "" if all can.
func Anew(given *pflag.FlagSet) (name string) {
	changed(given, func(f *pflag.Flag) {
		if name == "" && !Resumable(f.Name) {
			name = f.Name
		}
	})
	return name
}

// changed calls each for the flags that were given, in whichever flag set they were parsed.
func changed(set *pflag.FlagSet, each func(*pflag.Flag)) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			each(f)
		}
	})
}

// Resumable reports whether a flag can be given when a run is resumed.
func Resumable(flag string) bool {
	return in(limits+" "+grants+" "+rules+" "+asking+" "+showing+" yes", flag)
}
