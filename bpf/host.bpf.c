// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A host's part of a law: the congestion header as a TCP option on every segment, and a congestion
 * control that sends at the rate the network allows.
 *
 * Both ends offer the option in their SYNs. Only where both do is it sent afterwards, and the
 * congestion control taken; all other connections are left as they are. NoQ has no option: it is
 * taken where the connection's own interface is paused when what it fills has no room, or
 * everywhere. */
#include "host/option.h"
#include "host/control.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
