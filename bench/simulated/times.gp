# Time against workers on simulated clusters, of the lines that bench/simulated/run wrote:
#   gnuplot -e "rows='docs/measured/simulated.jsonl'; link='fast'; figure='docs/measured/simulated-fast.svg'" bench/simulated/times.gp
set terminal svg size 900, 560 font "sans-serif,11" background "white"
set output figure
set datafile missing "?"
set logscale xy 2
set logscale y 10
set xtics (64, 256, 576, 1024)
set xrange [56:1180]
set grid ytics lc rgb "#dddddd"
unset key
set multiplot layout 2, 3 margins 0.09, 0.98, 0.17, 0.94 spacing 0.07, 0.12
cases = "rows-to-columns slabs-to-pencils random-uneven all_gather all_sum_reduce agreement"
do for [k = 1:words(cases)] {
  set title word(cases, k) noenhanced
  if (k > 3) { set xlabel "workers" }
  set ylabel (k % 3 == 1 ? "microseconds" : "")
  from = "< python3 bench/simulated/simulate.py --columns ".rows." ".link." ".word(cases, k)
  plot from using 1:2 with linespoints lc rgb "#1f4e9c" lw 2 pt 7 title "partita", \
       from using 1:3 with linespoints lc rgb "#c55f00" lw 2 pt 5 title "MPI's call", \
       from using 1:4 with linespoints lc rgb "#f6a04d" pt 4 title "a message for each pair", \
       from using 1:5 with linespoints lc rgb "#f9cb9c" dt 3 pt 12 title "their overhead alone", \
       from using 1:6 with linespoints lc rgb "#888888" dt 2 pt 6 title "model of the costs"
}
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen 0.07
unset title
unset border
unset tics
unset grid
unset xlabel
unset ylabel
unset logscale
set yrange [0:1]
set key center center horizontal
plot NaN with linespoints lc rgb "#1f4e9c" lw 2 pt 7 title "partita", \
     NaN with linespoints lc rgb "#c55f00" lw 2 pt 5 title "MPI's call", \
     NaN with linespoints lc rgb "#f6a04d" pt 4 title "a message for each pair", \
     NaN with linespoints lc rgb "#f9cb9c" dt 3 pt 12 title "their overhead alone", \
     NaN with linespoints lc rgb "#888888" dt 2 pt 6 title "model of the costs"
unset multiplot
