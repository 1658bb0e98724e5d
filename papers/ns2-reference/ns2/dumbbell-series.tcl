# Rates of each flow at the output of a dumbbell's bottleneck, by Debian's ns-2 2.35.
# Usage: ns dumbbell-series.tcl MBITPS CORE_MS RTTS_MS STARTS_S STOPS_S QUEUE PAYLOAD BIN_S DURATION_S OUT.csv [TICK_S [SEED]]
# Lists are comma-separated, one entry a flow; a stop of 0 is never. Packets are PAYLOAD + 50 bytes
# on the wire. Run it in this folder. Prints utilisation, the longest queue by second, and the drops.
lassign $argv mbps core rtts starts stops queue payload bin duration out
set tick [expr {[llength $argv] > 10 ? [lindex $argv 10] : 0.01}]
set seed [expr {[llength $argv] > 11 ? [lindex $argv 11] : 1}]
remove-all-packet-headers
add-packet-header IP TCP XCP Flags
ns-random $seed

set ns [new Simulator]
set rate [expr {$mbps * 1e6}]
set access [expr {$rate * 10}]

proc cable {a b rate delay queue} {
    global ns
    $ns duplex-link $a $b $rate ${delay}ms XCP
    $ns queue-limit $a $b $queue
    $ns queue-limit $b $a $queue
    # In ns-2 each XCP queue is told the capacity by hand.
    foreach {from to} [list $a $b $b $a] {
        [[$ns link $from $to] queue] set-link-capacity $rate
    }
}

Agent/TCP set packetSize_ $payload
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 2
Agent/TCP set overhead_ 0
Agent/TCP set tcpTick_ $tick

set left [$ns node]
set right [$ns node]
cable $left $right $rate $core $queue
set trace [open "|[list awk -v bin=$bin -v duration=$duration -v flows=[llength [split $starts ,]] -v rate=$rate -v out=$out -f series.awk >@stdout]" w]
$ns trace-queue $left $right $trace
set i 0
foreach rtt [split $rtts ,] start [split $starts ,] stop [split $stops ,] {
    set s [$ns node]
    set d [$ns node]
    set delay [expr {($rtt / 2.0 - $core) / 2.0}]
    cable $s $left $access $delay 1000000
    cable $right $d $access $delay 1000000
    set agent [new Agent/TCP/Reno/XCP]
    $agent set fid_ $i
    set sink [new Agent/TCPSink/XCPSink]
    $ns attach-agent $s $agent
    $ns attach-agent $d $sink
    $ns connect $agent $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $agent
    $ns at $start "$ftp start"
    if {$stop > 0} { $ns at $stop "$ftp stop" }
    incr i
}
proc finish {} {
    global ns trace
    $ns flush-trace
    close $trace
    exit 0
}
$ns at $duration finish
$ns run
