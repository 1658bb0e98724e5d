# XCP flows both ways over a dumbbell, by Debian's ns-2 2.35: utilisation, queue and drops.
# Usage, in this folder: ns two-way.tcl MBITPS FLOWS_EACH_WAY RTT_MS QUEUE STAGGER_S DURATION_S SEED
lassign $argv mbps flows rtt queue stagger duration seed
remove-all-packet-headers
add-packet-header IP TCP XCP Flags
ns-random $seed
set ns [new Simulator]
set rate [expr {$mbps * 1e6}]
set core [expr $rtt*0.25]
proc cable {a b rate delay queue} {
    global ns
    $ns duplex-link $a $b $rate ${delay}ms XCP
    $ns queue-limit $a $b $queue
    $ns queue-limit $b $a $queue
    foreach {from to} [list $a $b $b $a] { [[$ns link $from $to] queue] set-link-capacity $rate }
}
Agent/TCP set packetSize_ 950
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 2
Agent/TCP set overhead_ 0
set left [$ns node]
set right [$ns node]
cable $left $right $rate $core $queue
set trace [open "|[list awk -v bin=1 -v duration=$duration -v flows=1 -v rate=$rate -v out=/dev/null -f series.awk >@stdout]" w]
$ns trace-queue $left $right $trace
for {set i 0} {$i<$flows} {incr i} {
    set s [$ns node]
    set d [$ns node]
    cable $s $left [expr $rate*10] [expr $rtt*.125] 1000000
    cable $right $d [expr $rate*10] [expr $rtt*.125] 1000000
    foreach {x y} [list $s $d $d $s] {
    set agent [new Agent/TCP/Reno/XCP]
    set sink [new Agent/TCPSink/XCPSink]
    $ns attach-agent $x $agent
    $ns attach-agent $y $sink
    $ns connect $agent $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $agent
    $ns at [expr $i*$stagger] "$ftp start"
    }
}
proc finish {} { global ns trace; $ns flush-trace; close $trace; exit 0 }
$ns at $duration finish
$ns run
