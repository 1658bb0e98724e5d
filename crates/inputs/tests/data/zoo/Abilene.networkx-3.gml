graph [
  node_default [
  ]
  edge_default [
  ]
  DateObtained "3/02/11"
  GeoLocation "US"
  GeoExtent "Country"
  Network "Abilene"
  Provenance "Primary"
  Access 0
  Source "http://www.internet2.edu/pubs/200502-IS-AN.pdf"
  Version "1.0"
  Type "REN"
  DateType "Historic"
  Backbone 1
  Commercial 0
  label "Abilene"
  ToolsetVersion "0.3.34dev-20120328"
  Customer 0
  IX 0
  SourceGitVersion "e278b1b"
  DateModifier "="
  DateMonth "02"
  LastAccess "3/02/11"
  Layer "IP"
  Creator "Topology Zoo Toolset"
  Developed 0
  Transit 0
  NetworkDate "2005_02"
  DateYear "2005"
  LastProcessed "2011_09_01"
  Testbed 0
  node [
    id 0
    label "0"
    Internal 1
    Latitude 40.71427
    Country "United States"
    Longitude -74.00597
    name "New York"
  ]
  node [
    id 1
    label "1"
    Internal 1
    Latitude 41.85003
    Country "United States"
    Longitude -87.65005
    name "Chicago"
  ]
  node [
    id 2
    label "2"
    Internal 1
    Latitude 38.89511
    Country "United States"
    Longitude -77.03637
    name "Washington DC"
  ]
  node [
    id 3
    label "3"
    Internal 1
    Latitude 47.60621
    Country "United States"
    Longitude -122.33207
    name "Seattle"
  ]
  node [
    id 4
    label "4"
    Internal 1
    Latitude 37.36883
    Country "United States"
    Longitude -122.03635
    name "Sunnyvale"
  ]
  node [
    id 5
    label "5"
    Internal 1
    Latitude 34.05223
    Country "United States"
    Longitude -118.24368
    name "Los Angeles"
  ]
  node [
    id 6
    label "6"
    Internal 1
    Latitude 39.73915
    Country "United States"
    Longitude -104.9847
    name "Denver"
  ]
  node [
    id 7
    label "7"
    Internal 1
    Latitude 39.11417
    Country "United States"
    Longitude -94.62746
    name "Kansas City"
  ]
  node [
    id 8
    label "8"
    Internal 1
    Latitude 29.76328
    Country "United States"
    Longitude -95.36327
    name "Houston"
  ]
  node [
    id 9
    label "9"
    Internal 1
    Latitude 33.749
    Country "United States"
    Longitude -84.38798
    name "Atlanta"
  ]
  node [
    id 10
    label "10"
    Internal 1
    Latitude 39.76838
    Country "United States"
    Longitude -86.15804
    name "Indianapolis"
  ]
  edge [
    source 0
    target 1
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 0
    target 2
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 1
    target 10
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 2
    target 9
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 3
    target 4
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 3
    target 6
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 4
    target 5
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 4
    target 6
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 5
    target 8
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 6
    target 7
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 7
    target 8
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 7
    target 10
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 8
    target 9
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
  edge [
    source 9
    target 10
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
    key 0
  ]
]
