# Reads an ns-2 queue trace of one link; writes bits per second of each flow by bin of time.
# "+" joins the queue, "-" leaves it to be sent, "d" is dropped.
{ t = $2; area += (q > 0 ? q : 0) * (t - last); last = t }
$1 == "+" { q++; s = int(t); w = q - 1; if (w > peak[s]) peak[s] = w; if (w > top) top = w }
$1 == "d" { drops++; q-- }
$1 == "-" { q--; b = int(t / bin + 1e-9); bytes[b, $8] += $6; sum[b] += $6; all += $6; second[int(t)] += $6 }
END {
    line = "t_s"
    for (f = 0; f < flows; f++) line = line ",flow" f "_bps"
    print line ",total_bps" > out
    for (b = 0; b < duration / bin - 1e-9; b++) {
        line = sprintf("%.4f", (b + 1) * bin)
        for (f = 0; f < flows; f++) line = line sprintf(",%.0f", bytes[b, f] * 8 / bin)
        print line sprintf(",%.0f", sum[b] * 8 / bin) > out
    }
    printf "mean queue %.3f ", area / duration
    printf "utilisation %.4f drops %d longest queue %d\n", all * 8 / rate / duration, drops, top
    for (s = 0; s < duration; s++) printf "%d: util %.4f peak %d\n", s, second[s] * 8 / rate, peak[s]
}
