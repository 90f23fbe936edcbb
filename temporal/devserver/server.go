package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	clusterName = "active"
	loopback    = "127.0.0.1"

	// namespaceRefresh is how often the services read the namespaces again. After that time, a new search attribute of
	// a namespace is known everywhere.
	namespaceRefresh = time.Second
)

// options are what the command line asks for.
type options struct {
	ip         net.IP
	port       int    // 0: a free one
	db         string // a file; "": in memory
	namespaces []string
	attributes map[string]enumspb.IndexedValueType // search attributes that each namespace has

	quiet      bool
	withParent bool
}

// server is a Temporal server of one process: frontend, history, matching and worker.
type server struct {
	temporal.Server
	address string // of the frontend, as a client on this machine dials it
	level   zap.AtomicLevel
}

// newServer prepares the database and configures a server. It listens nowhere before Start.
func newServer(o options) (*server, error) {
	ports, err := pickPorts(o.ip, o.port, len(temporal.DefaultServices))
	if err != nil {
		return nil, err
	}
	host := o.ip.String()
	if o.ip.IsUnspecified() {
		host = loopback
	}
	// Only the frontend listens where the user says. The other services are for this process.
	address := net.JoinHostPort(host, strconv.Itoa(ports[0]))
	services := map[string]config.Service{}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for i, name := range temporal.DefaultServices {
		rpc := config.RPC{GRPCPort: ports[i], BindOnIP: loopback}
		at := net.JoinHostPort(loopback, strconv.Itoa(ports[i]))
		if name == string(primitives.FrontendService) {
			rpc.BindOnIP, at = o.ip.String(), address
		}
		services[name] = config.Service{RPC: rpc}
		// Fixed hosts instead of gossip: a restarted server need not wait until its predecessor is declared dead.
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(at)
	}

	store := storeConfig(o.db)
	if err := prepareStore(store, o); err != nil {
		return nil, err
	}
	cfg := &config.Config{
		Services:            services,
		PublicClient:        config.PublicClient{HostPort: address},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Persistence: config.Persistence{
			DefaultStore:     sqliteplugin.PluginName,
			VisibilityStore:  sqliteplugin.PluginName,
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{sqliteplugin.PluginName: {SQL: store}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address},
			},
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchival{State: config.ArchivalDisabled},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: config.ArchivalDisabled},
		}},
	}
	cfg.Global.Membership.BroadcastAddress = loopback

	level := zap.NewAtomicLevelAt(zap.ErrorLevel)
	encoder := zapcore.NewConsoleEncoder(log.DefaultZapEncoderConfig)
	logger := zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), level))

	s, err := temporal.NewServer(
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(log.NewZapLogger(logger)),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithDynamicConfigClient(dynamicConfig()),
	)
	if err != nil {
		return nil, fmt.Errorf("configure the server: %w", err)
	}
	return &server{Server: s, address: address, level: level}, nil
}

// Stop ends the services one by one. The errors that the running services log about the stopped ones are suppressed.
func (s *server) Stop() error {
	s.level.SetLevel(zap.FatalLevel)
	return s.Server.Stop()
}

// dynamicConfig returns the differences from the server's defaults, which are made for many shards on many machines.
func dynamicConfig() dynamicconfig.StaticClient {
	// A queue is polled at most this often per second and shard. At the default of 20, one shard hands out 20 tasks a
	// second to all workflows together.
	const polls = 5000
	return dynamicconfig.StaticClient{
		dynamicconfig.TransferProcessorMaxPollRPS.Key():   polls,
		dynamicconfig.TimerProcessorMaxPollRPS.Key():      polls,
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): polls,
		dynamicconfig.OutboundProcessorMaxPollRPS.Key():   polls,
		// A worker gets the activities that its workflow task schedules with the answer to that task.
		dynamicconfig.EnableActivityEagerExecution.Key(): true,

		dynamicconfig.NamespaceCacheRefreshInterval.Key():           namespaceRefresh,
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
		// A server for tests does not ask on the internet whether it is up to date.
		dynamicconfig.EnableServerVersionCheck.Key(): false,
	}
}

// storeConfig configures SQLite. The plugin has one connection per configuration in a process, so
// an exclusive lock keeps other processes out and the server itself in.
func storeConfig(file string) *config.SQL {
	cfg := &config.SQL{PluginName: sqliteplugin.PluginName, DatabaseName: file}
	if file == "" {
		cfg.DatabaseName = "agentscript-devserver"
		cfg.ConnectAttributes = map[string]string{"mode": "memory", "cache": "shared"}
		return cfg
	}
	cfg.ConnectAttributes = map[string]string{
		"mode":         "rw",
		"locking_mode": "exclusive",
		"journal_mode": "wal",
		"synchronous":  "normal", // survives the end of the process, not of the machine
	}
	return cfg
}

// prepareStore creates what is missing: the file, the schema, the namespaces.
func prepareStore(cfg *config.SQL, o options) error {
	if o.db != "" {
		if err := prepareFile(cfg, o.db); err != nil {
			return fmt.Errorf("database %s: %w", o.db, err)
		}
	}
	namespaces := make([]*sqlite.NamespaceConfig, len(o.namespaces))
	for i, name := range o.namespaces {
		ns, err := sqlite.NewNamespaceConfig(clusterName, name, false, o.attributes)
		if err != nil {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
		namespaces[i] = ns
	}
	return sqlite.CreateNamespaces(cfg, namespaces...)
}

// prepareFile creates a database file, or checks that an existing one belongs to a Temporal server.
func prepareFile(cfg *config.SQL, file string) error {
	// The name becomes a part of a URI.
	if strings.ContainsAny(file, "?#%") {
		return errors.New("the name must not contain ?, # or %")
	}
	// SQLite creates files that everyone can read, and its journal with the mode of the file.
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return reason(err)
	}
	if err := f.Close(); err != nil {
		return reason(err)
	}
	db, err := sql.NewSQLAdminDB(sqlplugin.DbKindUnknown, cfg, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return storeError(err)
	}
	defer func() { _ = db.Close() }()

	// The schema is all there or not at all, however the process ends. This works since all
	// statements go through one connection.
	if err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return storeError(err)
	}
	tables, err := db.ListTables("")
	switch {
	case err != nil:
	case len(tables) == 0:
		err = sqlite.SetupSchemaOnDB(db)
	case !slices.Contains(tables, "namespaces") || !slices.Contains(tables, "history_node"):
		err = errors.New("another program's database")
	}
	if err != nil {
		return errors.Join(err, db.Exec("ROLLBACK"))
	}
	return db.Exec("COMMIT")
}

// storeError returns a readable message for errors that a user can fix.
func storeError(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "SQLITE_NOTADB"), strings.Contains(text, "not a database"):
		return errors.New("the file is not an SQLite database")
	case strings.Contains(text, "SQLITE_BUSY"), strings.Contains(text, "locked"):
		return errors.New("another process uses it")
	}
	return err
}

// reason returns an error of the operating system without the file's name.
func reason(err error) error {
	if e := (*os.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// pickPorts returns n ports: first the wanted one, or a free one if it is 0, then free ones on the loopback interface.
// The server listens by number, so a port can in theory be taken before it listens.
func pickPorts(ip net.IP, wanted, n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		host, port := loopback, 0
		if i == 0 {
			host, port = ip.String(), wanted
		}
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return nil, err
		}
		// Open until all are picked, so that they differ.
		defer func() { _ = l.Close() }()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
