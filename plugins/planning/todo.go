package planning

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// Bounds of a todo list.
const (
	maxTodos   = 100
	maxContent = 500 // code points
	maxListed  = 20  // open todos in a reminder
)

// Status is where a todo stands.
type Status string

const (
	StatusPending    Status = "pending"
	StatusInProgress Status = "in_progress"
	StatusCompleted  Status = "completed"
)

// Todo is one item of the list (P1).
type Todo struct {
	Content string `json:"content"`
	Status  Status `json:"status"`
}

type todoArgs struct {
	Todos []Todo `json:"todos"`
}

// todoWrite puts a list in place of the one before.
func (p *Planner) todoWrite(ctx context.Context, call tool.Call, args todoArgs) (string, error) {
	todos, err := checkTodos(args.Todos)
	if err != nil {
		return "", err
	}
	d, unlock, err := p.sit(ctx, call.Session)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := d.setTodos(ctx, todos); err != nil {
		return "", err
	}
	if len(todos) == 0 {
		return "The todo list is empty now.", nil
	}
	n := map[Status]int{}
	for _, t := range todos {
		n[t.Status]++
	}
	return fmt.Sprintf("The todo list is stored: %d pending, %d in progress, %d completed.", n[StatusPending], n[StatusInProgress], n[StatusCompleted]), nil
}

// checkTodos returns the list with each content in one line, or what is wrong
// with it.
func checkTodos(in []Todo) ([]Todo, error) {
	if len(in) > maxTodos {
		return nil, toolcall.Errorf("BAD_TODOS", "the list has %d items and may have %d; put small ones together or leave finished ones out", len(in), maxTodos)
	}
	todos := make([]Todo, len(in))
	seen := map[string]int{}
	for i, t := range in {
		t.Content = strings.Join(strings.Fields(tool.Clean(t.Content)), " ")
		switch length := utf8.RuneCountInString(t.Content); {
		case length == 0:
			return nil, toolcall.Errorf("BAD_TODOS", "item %d is empty; say what is to be done or leave it out", i+1)
		case length > maxContent:
			return nil, toolcall.Errorf("BAD_TODOS", "item %d has %d characters and may have %d; shorten it", i+1, length, maxContent)
		case seen[t.Content] > 0:
			return nil, toolcall.Errorf("BAD_TODOS", "items %d and %d are the same: %q; name each piece of work once", seen[t.Content], i+1, t.Content)
		case t.Status != StatusPending && t.Status != StatusInProgress && t.Status != StatusCompleted:
			return nil, toolcall.Errorf("BAD_TODOS", "item %d has the status %q; it is pending, in_progress or completed", i+1, t.Status)
		}
		seen[t.Content] = i + 1
		todos[i] = t
	}
	return todos, nil
}

// open are the todos that are not completed.
func open(todos []Todo) []Todo {
	var left []Todo
	for _, t := range todos {
		if t.Status != StatusCompleted {
			left = append(left, t)
		}
	}
	return left
}

// lines lists todos, at most limit of them, one a line.
func lines(todos []Todo, limit int) string {
	var b strings.Builder
	for i, t := range todos {
		if i == limit {
			fmt.Fprintf(&b, "and %d more\n", len(todos)-limit)
			break
		}
		fmt.Fprintf(&b, "[%s] %s\n", t.Status, t.Content)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
