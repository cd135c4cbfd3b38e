# Web sessions of ns-2's PagePool/WebTraf over a drop-tail link of 2 Mbit/s; web.toml is ecnlab's side.
# usage: ns web.tcl SEED LIMIT DONT_RECYCLE
# Prints ns-2's own trace of requests and responses, and the packets that came to the link and were dropped.
set seed [lindex $argv 0]
set limit [lindex $argv 1]
PagePool/WebTraf set dont_recycle_ [lindex $argv 2]

global defaultRNG
$defaultRNG seed $seed
set ns [new Simulator]
Agent/TCP set tcpTick_ 0.01
Agent/TCP set window_ 64
Agent/TCP set packetSize_ 1000
Queue set limit_ 1000
PagePool/WebTraf set req_trace_ 1
PagePool/WebTraf set resp_trace_ 1
PagePool/WebTraf set TCPTYPE_ Reno

set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 2Mb 20ms DropTail
$ns queue-limit $r1 $r2 $limit
set pool [new PagePool/WebTraf]
$pool set-num-client 5
$pool set-num-server 5
for {set i 0} {$i < 5} {incr i} {
    set s($i) [$ns node]
    set c($i) [$ns node]
    $ns duplex-link $s($i) $r1 10Mb [expr 1 + $i]ms DropTail
    $ns duplex-link $c($i) $r2 10Mb [expr 1 + $i]ms DropTail
    $pool set-client $i $c($i)
    $pool set-server $i $s($i)
}

set sessions 300
$pool set-num-session $sessions
set at 1.0
set pause [new RandomVariable/Exponential]
$pause set avg_ 0.5
for {set i 0} {$i < $sessions} {incr i} {
    set inter_page [new RandomVariable/Exponential]
    $inter_page set avg_ 1.0
    set objects [new RandomVariable/ParetoII]
    $objects set avg_ 3
    $objects set shape_ 3
    set inter_object [new RandomVariable/Exponential]
    $inter_object set avg_ 0.1
    set size [new RandomVariable/Constant]
    $size set val_ 8
    $pool create-session $i 3 $at $inter_page $objects $inter_object $size
    set at [expr $at + [$pause value]]
}
$pool set-interPageOption 1

set monitor [$ns monitor-queue $r1 $r2 [open /dev/null w] 0.1]
$ns at 160 {puts "link [$monitor set parrivals_] [$monitor set pdrops_]"; exit 0}
$ns run
