# comment
Creator "x"
graph [ directed 0 edge_default [ dist 5 ]
  node [ id 0 label "M&#252;nchen" Longitude 11.5 Latitude 48.1 graphics [ x 1 ] ]
  node [ id 1 pos 9 pos 50 Internal 0 ]
  edge [ source 0 target 1 LinkSpeed 10 LinkSpeedUnits "G" bandwidth NAN ]
]
