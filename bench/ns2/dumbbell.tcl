# The dumbbell of `make bench` for Debian's ns-2 2.35: same links, packets and starts as ours.
# Usage: ns2 dumbbell.tcl PROTOCOL FLOWS MBITPS RTT_MS QUEUE STAGGER_S DURATION_S
# Prints the data packets that arrived and the events that were scheduled.
if {[llength $argv] != 7} {
    puts stderr "usage: ns2 dumbbell.tcl xcp|newreno|cubic FLOWS MBITPS RTT_MS QUEUE STAGGER_S DURATION_S"
    exit 2
}
lassign $argv protocol flows mbps rtt queue stagger duration
# Only what is measured: without this every packet carries the headers of all protocols ns-2 knows.
remove-all-packet-headers
add-packet-header IP TCP XCP Flags

set ns [new Simulator]
$ns use-scheduler Calendar
set rate [expr {$mbps * 1e6}]
set access [expr {$rate * 10}]
set core_delay [expr {$rtt * 0.3}]ms
set access_delay [expr {$rtt * 0.1}]ms
set discipline [expr {$protocol eq "xcp" ? "XCP" : "DropTail"}]

proc cable {a b rate delay queue} {
    global ns discipline
    $ns duplex-link $a $b $rate $delay $discipline
    $ns queue-limit $a $b $queue
    $ns queue-limit $b $a $queue
    if {$discipline eq "XCP"} {
        # In ns-2 each XCP queue is told the capacity by hand, in bits per second.
        foreach {from to} [list $a $b $b $a] {
            [[$ns link $from $to] queue] set-link-capacity $rate
        }
    }
}

switch $protocol {
    xcp { set source_class TCP/Reno/XCP; set sink_class TCPSink/XCPSink }
    newreno { set source_class TCP/Newreno; set sink_class TCPSink }
    cubic { set source_class TCP/Linux; set sink_class TCPSink/Sack1 }
}
Agent/TCP set packetSize_ [expr {$protocol eq "xcp" ? 950 : 960}]
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 2
Agent/TCP set overhead_ 0

set left [$ns node]
set right [$ns node]
cable $left $right $rate $core_delay $queue
set sinks {}
for {set i 0} {$i < $flows} {incr i} {
    set s [$ns node]
    set d [$ns node]
    cable $s $left $access $access_delay 1000000
    cable $right $d $access $access_delay 1000000
    set agent [new Agent/$source_class]
    set sink [new Agent/$sink_class]
    $ns attach-agent $s $agent
    $ns attach-agent $d $sink
    $ns connect $agent $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $agent
    if {$protocol eq "cubic"} { $ns at 0 "$agent select_ca cubic" }
    $ns at [expr {$i * $stagger}] "$ftp start"
    lappend agents $agent
}

proc finish {} {
    global agents ns
    set packets 0
    foreach agent $agents { set packets [expr {$packets + [$agent set ack_]}] }
    # An event's id is the number of events scheduled so far.
    puts "packets $packets events [expr {[$ns at [$ns now] {}] - 1}]"
    exit 0
}
$ns at $duration finish
$ns run
