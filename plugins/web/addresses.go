package web

import "net/netip"

// forbidden are the blocks that are no address of the public internet, and those
// of it that clouds answer from within (IANA's registries of special addresses).
var forbidden = []struct {
	prefix netip.Prefix
	why    string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "an address of this machine"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private address"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a private address"},
	{netip.MustParsePrefix("127.0.0.0/8"), "an address of this machine"},
	{netip.MustParsePrefix("168.63.129.16/32"), "an address of a cloud's own services"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private address"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a private address"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a reserved address"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a reserved address"},
	{netip.MustParsePrefix("224.0.0.0/3"), "no address of one machine"},
	{netip.MustParsePrefix("2001::/23"), "a reserved address"},
	{netip.MustParsePrefix("2001:db8::/32"), "a reserved address"},
	{netip.MustParsePrefix("2002::/16"), "an address that leads elsewhere"},
	{netip.MustParsePrefix("3fff::/20"), "a reserved address"},
}

var (
	public6 = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
)

// refused says why an address must not be reached, "" where it may.
func refused(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if nat64.Contains(addr) { // it leads to the IPv4 address in its last bytes
		b := addr.As16()
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	for _, f := range forbidden {
		if f.prefix.Contains(addr) {
			return f.why
		}
	}
	switch {
	case addr.Is4(), public6.Contains(addr):
		return ""
	case addr.IsLoopback(), addr.IsUnspecified():
		return "an address of this machine"
	case addr.IsLinkLocalUnicast():
		return "a link-local address"
	}
	return "a private or reserved address"
}
