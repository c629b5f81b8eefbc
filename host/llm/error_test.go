package llm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
)

func TestM18_RetryableCodes(t *testing.T) {
	t.Parallel()
	retryable := []llm.Code{
		llm.CodeEmptyResponse, llm.CodeRateLimit, llm.CodeServer, llm.CodeTimeout,
		llm.CodeTransport, llm.CodeStreamClosed, llm.CodeMalformed,
	}
	final := []llm.Code{llm.CodeAuth, llm.CodeQuota, llm.CodeOverflow, llm.CodeInvalidRequest, llm.CodeAborted, llm.CodeNotFound}
	for _, code := range append(slices.Clone(retryable), final...) {
		if got := (&llm.Error{Code: code}).Retryable(); got != slices.Contains(retryable, code) {
			t.Errorf("%s: retryable %v", code, got)
		}
	}
}

func TestM17_CodeOfFindsTheErrorInAChain(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("step 3: %w", &llm.Error{Code: llm.CodeAborted, Message: "cancelled", Err: context.Canceled})
	if llm.CodeOf(err) != llm.CodeAborted || !errors.Is(err, context.Canceled) {
		t.Errorf("%v lost its code or its cause", err)
	}
	if llm.CodeOf(errors.New("other")) != "" || llm.CodeOf(nil) != "" {
		t.Error("a code was found where there is none")
	}
}

func TestM20_UsageClassesAreDisjoint(t *testing.T) {
	t.Parallel()
	u := llm.Usage{Input: 1, CacheRead: 20, CacheWrite: 300, Output: 4000, Reasoning: 3000}
	if u.Total() != 4321 {
		t.Errorf("total %d, want 4321: reasoning is inside of output", u.Total())
	}
	if got, want := u.Add(u), (llm.Usage{Input: 2, CacheRead: 40, CacheWrite: 600, Output: 8000, Reasoning: 6000}); got != want {
		t.Errorf("sum %+v, want %+v", got, want)
	}
}
