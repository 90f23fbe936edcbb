package main

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// ready returns when a client can use each namespace and its search attributes.
func (s *server) ready(ctx context.Context, o options) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	conn, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()

	added := false
	for _, namespace := range o.namespaces {
		if err := waitFor(ctx, conn, namespace); err != nil {
			return fmt.Errorf("namespace %s does not answer: %w", namespace, err)
		}
		a, err := addAttributes(ctx, conn, namespace, o)
		if err != nil {
			return fmt.Errorf("search attributes of namespace %s: %w", namespace, err)
		}
		added = added || a
	}
	if added {
		// Each service reads the namespaces on a timer, and no call reports whether it has.
		select {
		case <-time.After(2 * namespaceRefresh):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// waitFor returns when the frontend knows a namespace.
func waitFor(ctx context.Context, conn grpc.ClientConnInterface, namespace string) error {
	client := workflowservice.NewWorkflowServiceClient(conn)
	for {
		_, err := client.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// addAttributes adds the search attributes that a namespace lacks, and reports whether it lacked any. A new namespace
// has them all; one that an earlier server left in the file may not.
func addAttributes(ctx context.Context, conn grpc.ClientConnInterface, namespace string, o options) (bool, error) {
	if len(o.attributes) == 0 {
		return false, nil
	}
	client := operatorservice.NewOperatorServiceClient(conn)
	have, err := client.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return false, err
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, kind := range o.attributes {
		switch had, ok := have.GetCustomAttributes()[name]; {
		case !ok:
			missing[name] = kind
		case had != kind:
			return false, fmt.Errorf("%s is of type %s, not %s", name, had, kind)
		}
	}
	if len(missing) == 0 {
		return false, nil
	}
	_, err = client.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	return true, err
}
