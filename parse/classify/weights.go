package classify

// trained are the weights for real pages. Written by
// go test ./parse/classify -run TestTrain -train
var trained = model{
	bias: -5.5765,
	weights: [features]float64{
		0.2265,  // prose
		0.0182,  // link text
		0.1207,  // longest block
		-0.0517, // share of link text
		-0.0902, // links
		0.6311,  // share of long links
		-0.1404, // long links
		0.0648,  // linked headings
		-0.1081, // linked images
		-0.2760, // headings
		0.1517,  // paragraphs
		0.1124,  // list items
		0.0105,  // commas
		0.3370,  // one h1
		-0.6171, // prices
		0.7710,  // length of title
		0.8058,  // metadata say article
		-0.5867, // metadata say site or list
		0.6238,  // body class of an article
		-1.3137, // body class of a list
		-0.2700, // link to page 2
		2.7478,  // share of prose
		0.1174,  // author
		0.7614,  // AMP version
		0.4428,  // date of publication
		-0.8683, // URL of a directory
		0.4180,  // words in the URL
		1.1159,  // number in the URL
		-1.8194, // list word in the URL
		1.0544,  // URL of a file
		0.0470,  // depth of the URL
		-1.5580, // plural in the URL
		0.3178,  // no URL
	},
	typical: [features]float64{
		7.5252,  // prose
		7.5332,  // link text
		6.0857,  // longest block
		0.3191,  // share of link text
		4.7668,  // links
		0.1765,  // share of long links
		3.0062,  // long links
		1.4726,  // linked headings
		2.2679,  // linked images
		2.6154,  // headings
		3.1871,  // paragraphs
		4.1092,  // list items
		15.5295, // commas
		0.7682,  // one h1
		0.1921,  // prices
		3.8318,  // length of title
		0.8802,  // metadata say article
		0.1313,  // metadata say site or list
		0.3212,  // body class of an article
		0.1025,  // body class of a list
		0.1071,  // link to page 2
		0.3643,  // share of prose
		0.3562,  // author
		0.2087,  // AMP version
		0.3691,  // date of publication
		0.0332,  // URL of a directory
		1.1402,  // words in the URL
		0.2906,  // number in the URL
		0.0512,  // list word in the URL
		0.1771,  // URL of a file
		0.8362,  // depth of the URL
		0.0554,  // plural in the URL
		0.2887,  // no URL
	},
}
