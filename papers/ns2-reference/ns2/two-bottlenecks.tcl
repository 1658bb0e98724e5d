# One long flow and n^2 - 1 flows each held by a link of its own, by Debian's ns-2 2.35.
# Usage: ns two-bottlenecks.tcl N RTT_MS DURATION_S SEED up|down
# Prints the long flow's rate on the wire and the shared link's utilisation in the second half.
lassign $argv n rtt duration seed side
remove-all-packet-headers
add-packet-header IP TCP XCP Flags
ns-random $seed
set ns [new Simulator]
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
cable $left $right 155e6 [expr $rtt*.25] [expr int(155e6*$rtt/8e6)]
set c2 [expr 155e6/($n*($n+1))]
set N [expr $n*$n]
for {set i 0} {$i<$N} {incr i} {
    set s [$ns node]
    set d [$ns node]
    set up 1550e6; set down 1550e6; set qu 1000000; set qd 1000000
    if {$i>0} { if {$side eq "up"} {set up $c2; set qu [expr int($c2*$rtt/8e6)]} else {set down $c2; set qd [expr int($c2*$rtt/8e6)]} }
    cable $s $left $up [expr $rtt*.125] $qu
    cable $right $d $down [expr $rtt*.125] $qd
    set agent [new Agent/TCP/Reno/XCP]
    set sink [new Agent/TCPSink/XCPSink]
    $ns attach-agent $s $agent
    $ns attach-agent $d $sink
    $ns connect $agent $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $agent
    $ns at [expr $i*0.01] "$ftp start"
    lappend agents $agent
}
proc snap {} { global agents base; set base {}; foreach a $agents {lappend base [$a set ack_]} }
proc finish {} { global agents base duration n rtt seed side; set o 0; set k 0; foreach a $agents b $base { set r [expr ([$a set ack_]-$b)*8000.0/($duration/2.0)/1e6]; if {$k==0} {set long $r} else {set o [expr $o+$r]}; incr k }
puts "$side n $n rtt $rtt seed $seed long on wire [format %.2f $long] util [format %.4f [expr ($long+$o)/155]]"; exit 0 }
$ns at [expr $duration/2.0] snap
$ns at $duration finish
$ns run
