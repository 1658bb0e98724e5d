// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A host's part of a law: the congestion header as a TCP option on every segment, and a congestion
 * control that sends at the rate the network allows.
 *
 * Both ends offer the option in their SYNs. Only if both do is it sent afterwards, and the
 * congestion control set; all other connections stay as they are. NoQ has no option: it is set if
 * the connection's own interface pauses when the next queue is full, or everywhere. */
#include "host/option.h"
#include "host/control.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
