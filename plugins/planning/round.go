package planning

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/tureen-host/tureen/host/session"
)

// textRound is the message that begins a round (P4): the goal's id, the round, the
// limit, the quoted objective and advice.
const textRound = `<goal_round>
Goal %s, round %d of %d. Objective: %s

This message comes by itself because the goal is still open; nobody is waiting at the keyboard. Go on with it in this turn.
Begin with what is really there: look at the files, the output of commands, the todo list, your notes. What you said in earlier turns may be out of date or may never have been done, so believe what you see now.
Then take the next step with tool calls. To say what you are about to do does nothing, and rounds without a tool call end the goal.
Check what you did. Once all of the objective is reached, and you have seen that it is, call update_goal with action complete and the evidence. While something is missing leave the goal as it is: the next round comes by itself.
If something stands in your way, try other ways. Only what you cannot get around without the person, or before something changes outside, is a case for update_goal with action blocked, from round 3 on.%s
</goal_round>`

// What a round says of the turn before it, where that was cut short.
const (
	adviceCut     = "\nThe last answer was cut off at its length limit, and what it had begun was not done. Take a smaller step: write long files in parts, and say less."
	adviceBlocked = "\nThe last turn was ended by a guard (%s). Do not repeat what it did; take another way."
)

// textOverdue goes with a round that was queued before its goal was stopped: the
// goal's id and what became of it.
const textOverdue = "The round of goal %s above was queued earlier; meanwhile %s. Do not work at the goal because of that message. " +
	"Unless the person asks for something else here, say in one or two sentences where the work stands, and end your turn."

var roundShape = regexp.MustCompile(`^<goal_round>\nGoal (g\d{1,9}), round (\d{1,9}) of \d+\. `)

// roundText is the message of the goal's next round, with advice, "" for none.
func (g Goal) roundText(advice string) string {
	return fmt.Sprintf(textRound, g.ID, g.RoundsStarted+1, g.MaxRounds, g.quoted(), advice)
}

// isRound tells whether a message is one that begins a round. The host queues those
// that come from the idle hook without a name.
func isRound(text string, source session.Source, from string) bool {
	return source == session.SourcePlugin && (from == "" || from == Name) && roundShape.MatchString(text)
}

// roundOf reads the goal's id and the round off its message.
func roundOf(text string) (id string, round int) {
	m := roundShape.FindStringSubmatch(text)
	if m == nil {
		return "", 0
	}
	round, _ = strconv.Atoi(m[2]) // the shape has digits only
	return m[1], round
}
