package scripted

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
)

const (
	bytesPerToken = 4
	blockBytes    = 16 * bytesPerToken
	maxBlocks     = 1 << 20 // the cache forgets all at 64 MiB of prompts
)

// tokens counts a text of n bytes.
func tokens(n int) int { return (n + bytesPerToken - 1) / bytesPerToken }

// prefixCache knows every block of prompt that was seen, together with all that
// stood before it, as inference servers keep it. It is safe for concurrent use.
type prefixCache struct {
	seed maphash.Seed
	mu   sync.Mutex
	seen map[uint64]struct{}
}

func newPrefixCache() *prefixCache {
	return &prefixCache{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

// add takes a prompt in and returns how many of its tokens are the beginning of
// a prompt that was taken in before: whole blocks only, never all of the prompt.
func (c *prefixCache) add(prompt []byte) (cached int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) > maxBlocks {
		clear(c.seen)
	}
	var link [8]byte
	var hash maphash.Hash
	hash.SetSeed(c.seed)
	hit := true
	for rest := prompt; len(rest) > blockBytes; rest = rest[blockBytes:] {
		hash.Reset()
		hash.Write(link[:])
		hash.Write(rest[:blockBytes])
		sum := hash.Sum64()
		binary.LittleEndian.PutUint64(link[:], sum)
		if hit {
			if _, hit = c.seen[sum]; hit {
				cached += blockBytes / bytesPerToken
			}
		}
		c.seen[sum] = struct{}{}
	}
	return cached
}
